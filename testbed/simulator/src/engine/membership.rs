//! Servers that go and come, and when the gateways hear of it.

use super::Engine;
use super::slab::State;
use crate::balancer::Balancer;
use crate::scenario::Change;

impl<B: Balancer> Engine<'_, B> {
    /// An event of the scenario happens.
    pub(super) fn change(&mut self, number: u32) {
        let event = self.scenario.events[number as usize];
        let server = event.server as u32;
        match event.change {
            Change::Up if !self.farm.is_alive(server) => {
                for request in self.farm.regain(server) {
                    self.start(server, request);
                }
            }
            Change::Down if self.farm.is_alive(server) => self.lose(server),
            Change::Up | Change::Down => {}
        }
    }

    /// What waited or was served there is sent again; the clients have been waiting since they first asked.
    fn lose(&mut self, server: u32) {
        let mut again = Vec::new();
        for id in self.farm.lose(server) {
            again.push(self.requests.remove(id));
        }
        self.requests.for_each_live(|request| {
            if request.server == server && request.state.is_served() {
                again.push(*request);
                request.state = State::Lost;
            }
        });
        for request in again {
            self.meter.retried();
            self.balancer.finish(request.worker, request.ticket);
            self.send(request.born_ns, request.worker, (request.key, request.operation));
        }
    }

    /// The gateways know of an event.
    pub(super) fn hear(&mut self, number: u32) {
        // What is known is the state after this event, not that of later ones.
        let mut alive = self.scenario.first_alive();
        for event in &self.scenario.events[..=number as usize] {
            alive[event.server] = event.change == Change::Up;
        }
        self.balancer.hear(&alive);
    }
}
