//! What an experiment shows, in words made from its numbers.

use rudolph_charts::grouped;

use crate::{
    Action, Contender, Figure, Metric, PublishedRow, Row, Spec, Trial,
    figures::{AlphaLevel, alpha_levels},
    number::{change, median},
    summary::find,
};

/// A paragraph a hero, then who was best at what, then what the spec's own shape adds.
#[must_use]
pub fn paragraphs(spec: &Spec, rows: &[Row], trials: &[Trial]) -> Vec<String> {
    let reference = find(rows, &spec.reference);
    let heroes = spec.heroes.iter().filter(|hero| **hero != spec.reference);
    let mut paragraphs: Vec<String> =
        heroes.filter_map(|hero| Some(compare(spec, find(rows, hero)?, reference?))).collect();
    paragraphs.extend(extremes(spec, rows));
    paragraphs.extend(sweep(spec, rows));
    paragraphs.extend(ramp(spec, trials));
    paragraphs.extend(width(spec, trials));
    paragraphs.extend(disturbance(spec, rows, trials));
    paragraphs.extend(published(spec, rows));
    paragraphs
}

fn number(row: &Row, metric: Metric) -> String {
    grouped(row.median(metric), metric.digits())
}

fn compare(spec: &Spec, hero: &Row, reference: &Row) -> String {
    let ratio = |metric: Metric| change(hero.median(metric) / reference.median(metric));
    let served = match spec.load.rate {
        Some(rate) => format!("Of {} requests/s offered, {}'s", grouped(rate, 0), hero.contender),
        None => format!(
            "{} served {} requests/s, {} against {}. Its",
            hero.contender,
            number(hero, Metric::Rps),
            ratio(Metric::Rps),
            reference.contender,
        ),
    };
    format!(
        "{served} p99 was {} ms against {}'s {} ({}), its hit rate {} % against {} %, and its hottest server had {} times \
         the mean against {}.",
        number(hero, Metric::P99Ms),
        reference.contender,
        number(reference, Metric::P99Ms),
        ratio(Metric::P99Ms),
        number(hero, Metric::HitPercent),
        number(reference, Metric::HitPercent),
        number(hero, Metric::PeakOverMean),
        number(reference, Metric::PeakOverMean),
    )
}

/// Who was best at what. In an open loop all are offered the same, so requests a second say nothing.
fn extremes(spec: &Spec, rows: &[Row]) -> Option<String> {
    let open = spec.load.rate.is_some();
    let fastest = best(rows, Metric::Rps).filter(|_| !open);
    let served = fastest.map_or_else(String::new, |row| {
        format!("{} served most requests ({} a second), ", row.contender, number(row, Metric::Rps))
    });
    let (steadiest, warmest) = (best(rows, Metric::P99Ms)?, best(rows, Metric::HitPercent)?);
    let coldest = coldest(rows)?;
    Some(format!(
        "Of all, {served}{} had the lowest p99 ({} ms), and {} kept most hits ({} %); {} kept fewest ({} %).",
        steadiest.contender,
        number(steadiest, Metric::P99Ms),
        warmest.contender,
        number(warmest, Metric::HitPercent),
        coldest.contender,
        number(coldest, Metric::HitPercent),
    ))
}

fn best(rows: &[Row], metric: Metric) -> Option<&Row> {
    let known = rows.iter().filter(|row| row.median(metric).is_finite());
    let order = |a: &&Row, b: &&Row| a.median(metric).total_cmp(&b.median(metric));
    if metric.lower_is_better() { known.min_by(order) } else { known.max_by(order) }
}

fn coldest(rows: &[Row]) -> Option<&Row> {
    let known = rows.iter().filter(|row| row.median(Metric::HitPercent).is_finite());
    known.min_by(|a, b| a.median(Metric::HitPercent).total_cmp(&b.median(Metric::HitPercent)))
}

/// Where several lambdas competed: what the price of turning does.
fn sweep(spec: &Spec, rows: &[Row]) -> Option<String> {
    let mut steps: Vec<(f64, &Row)> =
        rows.iter().filter_map(|row| Some((lambda(&row.contender)?, row))).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((low, first), (high, last)) = (*steps.first()?, *steps.last()?);
    if steps.len() < 3 {
        return None;
    }
    let hottest = |row: &Row| {
        grouped(100.0 * row.median(Metric::PeakOverMean) / spec.servers.count as f64, 1)
    };
    Some(format!(
        "As lambda goes from {low} to {high}, rotation goes from {} requests/s, {} % hits and a hottest server with {} % of \
         the load to {} requests/s, {} % hits and {} %.",
        number(first, Metric::Rps),
        number(first, Metric::HitPercent),
        hottest(first),
        number(last, Metric::Rps),
        number(last, Metric::HitPercent),
        hottest(last),
    ))
}

fn lambda(contender: &Contender) -> Option<f64> {
    match contender.name() {
        "rotation" => Some(0.125),
        name => name.strip_prefix("rotation@")?.parse().ok(),
    }
}

/// Where alpha rises: what the hottest server carries at each step.
fn ramp(spec: &Spec, trials: &[Trial]) -> Option<String> {
    let levels = alpha_levels(spec);
    let (first, last) = (levels.first()?, levels.last()?);
    let steps = |share: &dyn Fn(&AlphaLevel) -> f64| {
        levels.iter().map(|level| grouped(share(level), 0)).collect::<Vec<_>>().join(", ")
    };
    let of = |contender: &Contender| {
        let shares = steps(&|level| level.hottest_percent(spec, contender, trials));
        format!("{contender} {shares}")
    };
    let shares = spec.contenders.iter().map(of).collect::<Vec<_>>().join("; ");
    Some(format!(
        "As alpha goes from {} to {} in {} steps, the hottest server has so many per cent of all requests: {shares}. With one \
         owner a key it cannot have less at any moment than {}: an even share, or the hottest key alone. (A key that changes \
         its owner within a second shows less in the mean of that second.)",
        first.alpha,
        last.alpha,
        levels.len(),
        steps(&|level| level.bound_percent(spec)),
    ))
}

/// Where plots show each server: how far the servers lie apart, in the mean second.
fn width(spec: &Spec, trials: &[Trial]) -> Option<String> {
    let shown = |figure: &Figure| match figure {
        Figure::Servers { metric, .. } => Some(*metric),
        _ => None,
    };
    let metric = spec.figures.iter().find_map(shown)?;
    let of = |contender: &Contender| {
        let own = trials.iter().filter(|trial| trial.contender == *contender);
        let widths = own.map(|trial| trial.seconds.width(metric));
        format!("{contender} {}", grouped(median(widths), metric.digits()))
    };
    let widths: Vec<String> = spec.contenders.iter().map(of).collect();
    Some(format!(
        "In the mean second, the slowest and the fastest server lie so far apart in {}: {}.",
        metric.label(),
        widths.join(", ")
    ))
}

fn disturbance(spec: &Spec, rows: &[Row], trials: &[Trial]) -> Option<String> {
    let first = spec.events.first()?;
    let worst = |row: &Row| {
        let seconds = trials
            .iter()
            .filter(|trial| trial.contender == row.contender)
            .flat_map(|trial| trial.seconds.all.iter().filter(|s| s.second >= first.at_s));
        seconds.map(|second| second.p99_ms).fold(0.0, f64::max)
    };
    let back = |row: &Row| match row.median(Metric::RecoveryS) {
        seconds if seconds.is_finite() => format!("hits back after {seconds:.0} s"),
        _ => "hits not back in the time that was watched".to_owned(),
    };
    let of = |row: &Row| {
        format!(
            "{}: {} failed requests, worst second's p99 {} ms, {}",
            row.contender,
            number(row, Metric::Errors),
            grouped(worst(row), 0),
            back(row),
        )
    };
    let all = rows.iter().map(of).collect::<Vec<_>>().join("; ");
    let what = match first.action {
        Action::Kill => "After the kill",
        Action::Restart => "After the restart",
        Action::Add => "After the new server came",
    };
    Some(format!("{what}: {all}."))
}

fn published(spec: &Spec, rows: &[Row]) -> Option<String> {
    let reference = spec.published.rows.iter().find(|row| row.contender == spec.reference)?;
    let others = spec.published.rows.iter().filter(|row| row.contender != spec.reference);
    let ratio = |metric: Metric, row: &PublishedRow| {
        Some(row.values.get(&metric)? / reference.values.get(&metric)?)
    };
    let of = |row: &PublishedRow| {
        let own = find(rows, &row.contender)?;
        let base = find(rows, &spec.reference)?;
        let measured = |metric: Metric| change(own.median(metric) / base.median(metric));
        let pair = |metric: Metric| {
            let published = change(ratio(metric, row)?);
            Some(format!("{} {published} (here {})", metric.says(), measured(metric)))
        };
        let metrics: &[Metric] = match spec.load.rate {
            None => &[Metric::Rps, Metric::P99Ms],
            Some(_) => &[Metric::MeanMs, Metric::P99Ms],
        };
        let pairs: Vec<String> = metrics.iter().filter_map(|&metric| pair(metric)).collect();
        Some(format!("{}: {}", row.contender, pairs.join(", ")))
    };
    let all: Vec<String> = others.filter_map(of).collect();
    (!all.is_empty()).then(|| {
        format!(
            "Published, against {}: {}. {}",
            spec.reference,
            all.join("; "),
            spec.published.source
        )
    })
}
