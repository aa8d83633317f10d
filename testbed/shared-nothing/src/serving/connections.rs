use super::connection::Connection;

/// A thread's connections by their number. A number is used again; a generation is not.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    places: Vec<Option<Box<Connection>>>,
    free: Vec<usize>,
    open: usize,
}

impl Connections {
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    /// A number for a connection that is to be [put](Self::put) there.
    pub(crate) fn reserve(&mut self) -> usize {
        self.open += 1;
        self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        })
    }

    /// Lends a connection out; it comes back by [put](Self::put) or ends by [release](Self::release).
    #[inline]
    pub(crate) fn take(&mut self, number: usize) -> Option<Box<Connection>> {
        self.places.get_mut(number)?.take()
    }

    #[inline]
    pub(crate) fn put(&mut self, number: usize, connection: Box<Connection>) {
        self.places[number] = Some(connection);
    }

    pub(crate) fn release(&mut self, number: usize) {
        self.open -= 1;
        self.free.push(number);
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Connection> {
        self.places.get_mut(number)?.as_deref_mut()
    }
}
