//! Names beside points, clear of all points, of one another and of the lines that lead to them.

/// A rectangle by its corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    pub(crate) fn around(centre: (f64, f64), radius: f64) -> Self {
        Area::spanning(centre, centre).grown(radius)
    }

    pub(crate) fn spanning(from: (f64, f64), to: (f64, f64)) -> Self {
        Area {
            left: from.0.min(to.0),
            top: from.1.min(to.1),
            right: from.0.max(to.0),
            bottom: from.1.max(to.1),
        }
    }

    pub(crate) fn grown(self, by: f64) -> Self {
        Area {
            left: self.left - by,
            top: self.top - by,
            right: self.right + by,
            bottom: self.bottom + by,
        }
    }

    pub(crate) fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn within(&self, outer: &Area) -> bool {
        self.left >= outer.left
            && self.right <= outer.right
            && self.top >= outer.top
            && self.bottom <= outer.bottom
    }

    /// The nearest place in the area.
    fn nearest(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom))
    }
}

/// A name's place, with the line from its point to it where it is not close by.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) area: Area,
    pub(crate) leader: Option<[(f64, f64); 2]>,
}

/// What is drawn already.
#[derive(Debug)]
pub(crate) struct Taken {
    bounds: Area,
    areas: Vec<Area>,
}

/// Where a name looks for room: which side, and how it is aligned on it.
const SIDES: [(f64, f64); 14] = [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.0, -1.0),
    (0.0, 1.0),
    (0.5, -1.0),
    (0.5, 1.0),
    (-0.5, -1.0),
    (-0.5, 1.0),
    (1.0, -1.0),
    (1.0, 1.0),
    (-1.0, -1.0),
    (-1.0, 1.0),
    (1.0, -0.5),
    (1.0, 0.5),
];
/// Rings of ever greater distance.
const RINGS: u32 = 14;
const RING: f64 = 11.0;
const CLOSE: f64 = 3.0;
/// Above and below, letters leave most of the room themselves.
const SLIT: f64 = 1.5;
/// A name farther from what it names has a line that leads to it.
const FAR: f64 = 5.0;
/// Leaders are checked in pieces of this length.
const PIECE: f64 = 3.0;

impl Taken {
    pub(crate) fn new(bounds: Area, areas: Vec<Area>) -> Self {
        Taken { bounds, areas }
    }

    /// Places a name of this size as near as there is room to `own`, what is drawn around its point.
    pub(crate) fn place(
        &mut self,
        point: (f64, f64),
        own: &Area,
        size: (f64, f64),
    ) -> Option<Placed> {
        let rings = 0..RINGS;
        let candidates = || {
            rings.clone().flat_map(|ring| {
                SIDES
                    .iter()
                    .map(move |&side| with_leader(point, own, candidate(own, size, side, ring)))
            })
        };
        // A leader across something is better than no name.
        let clear = |placed: &Placed| self.is_free(placed) && self.leader_is_free(own, placed);
        let placed =
            candidates().find(clear).or_else(|| candidates().find(|it| self.is_free(it)))?;
        self.areas.push(placed.area);
        self.areas.extend(pieces(own, placed.leader));
        Some(placed)
    }

    fn is_free(&self, placed: &Placed) -> bool {
        placed.area.within(&self.bounds) && !self.meets_any(&placed.area)
    }

    fn leader_is_free(&self, own: &Area, placed: &Placed) -> bool {
        !pieces(own, placed.leader).iter().any(|piece| self.meets_any(piece))
    }

    fn meets_any(&self, area: &Area) -> bool {
        self.areas.iter().any(|other| other.meets(area))
    }
}

fn candidate(own: &Area, size: (f64, f64), (across, down): (f64, f64), ring: u32) -> Area {
    let away = CLOSE + RING * f64::from(ring);
    let middle = ((own.left + own.right) / 2.0, (own.top + own.bottom) / 2.0);
    let left = match across {
        1.0 => own.right + away,
        -1.0 => own.left - away - size.0,
        _ => middle.0 - size.0 / 2.0 + across * size.0 * 0.8,
    };
    let top = match down {
        1.0 => own.bottom + away - CLOSE + SLIT,
        -1.0 => own.top - away + CLOSE - SLIT - size.1,
        _ => middle.1 - size.1 / 2.0 + down * size.1,
    };
    Area { left, top, right: left + size.0, bottom: top + size.1 }
}

fn with_leader(point: (f64, f64), own: &Area, area: Area) -> Placed {
    let from = own.nearest(area.nearest(point));
    let to = area.nearest(from);
    let is_far = (to.0 - from.0).hypot(to.1 - from.1) > FAR;
    Placed { area, leader: is_far.then_some([point, to]) }
}

/// Small areas along the leader, without those at the point and at the name.
fn pieces(own: &Area, leader: Option<[(f64, f64); 2]>) -> Vec<Area> {
    let Some([from, to]) = leader else { return Vec::new() };
    let (across, down) = (to.0 - from.0, to.1 - from.1);
    let count = (across.hypot(down) / PIECE).ceil().clamp(1.0, 1_000.0) as u32;
    (0..count)
        .map(|piece| f64::from(piece) / f64::from(count))
        .map(|share| Area::around((from.0 + across * share, from.1 + down * share), 0.5))
        .filter(|piece| !piece.meets(own))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::random;

    const BOUNDS: Area = Area { left: 0.0, top: 0.0, right: 600.0, bottom: 300.0 };

    #[test]
    fn placed_names_never_overlap_nor_leave() {
        for seed in 0..200 {
            let mut state = seed;
            let points: Vec<(f64, f64)> =
                (0..20).map(|_| (random(&mut state) * 600.0, random(&mut state) * 300.0)).collect();
            let dots: Vec<Area> = points.iter().map(|at| Area::around(*at, 4.0)).collect();
            let mut taken = Taken::new(BOUNDS, dots.clone());
            let mut drawn = dots.clone();
            for (point, own) in points.into_iter().zip(&dots) {
                let placed = taken.place(point, own, (90.0, 14.0));
                let area = placed.unwrap_or_else(|| panic!("seed {seed}: no room")).area;
                assert!(!drawn.iter().any(|other| other.meets(&area)), "seed {seed}");
                assert!(area.within(&BOUNDS), "seed {seed}");
                drawn.push(area);
            }
        }
    }

    #[test]
    fn a_name_with_room_is_beside_its_point_without_a_line() {
        let own = Area::around((100.0, 100.0), 5.0);
        let mut taken = Taken::new(BOUNDS, vec![own]);
        let placed = taken.place((100.0, 100.0), &own, (50.0, 14.0)).unwrap();
        assert_eq!(placed.area, Area { left: 108.0, top: 93.0, right: 158.0, bottom: 107.0 });
        assert!(placed.leader.is_none());
    }

    #[test]
    fn without_room_there_is_no_name() {
        let own = Area::around((100.0, 100.0), 5.0);
        let mut taken = Taken::new(BOUNDS, vec![BOUNDS.grown(10.0)]);
        assert!(taken.place((100.0, 100.0), &own, (50.0, 14.0)).is_none());
    }
}
