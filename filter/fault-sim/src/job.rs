//! What a worker may be told to do, and what it says afterwards.

use rudolph_core::servers::Members;
use rudolph_mock_host::{RequestOptions, Stream, WorkerError};

use crate::admin::Answer;
use crate::lane::Errand;

/// A job, as its checks need to know it.
#[derive(Clone, Debug)]
pub(crate) enum Job {
    Tick { root: u32 },
    Answer { root: u32, token: u32, answer: Answer },
    Request { root: u32, key: Option<String>, spoofs: bool },
    AddRoot { variant: usize, text: String },
    RemoveRoot { root: u32 },
}

/// What came of a job.
#[derive(Debug)]
pub(crate) enum Ran {
    Nothing(Result<(), WorkerError>),
    Stream(Result<Stream, WorkerError>),
    Root(Result<u32, WorkerError>),
}

impl Ran {
    pub(crate) fn error(&self) -> Option<&WorkerError> {
        match self {
            Self::Nothing(Err(error)) | Self::Stream(Err(error)) | Self::Root(Err(error)) => {
                Some(error)
            }
            _ => None,
        }
    }
}

/// An address that no server has.
pub(crate) const SPOOFED: &str = "203.0.113.66:6666";

impl Job {
    pub(crate) fn errand(&self) -> Errand {
        match self.clone() {
            Self::Tick { root } => Box::new(move |worker| Ran::Nothing(worker.tick_root(root))),
            Self::Answer { token, answer, .. } => Box::new(move |worker| {
                Ran::Nothing(match answer.status {
                    Some(status) => {
                        worker.respond_http_call(token, &[(":status", status)], &answer.body)
                    }
                    None => worker.fail_http_call(token),
                })
            }),
            Self::Request { root, key, spoofs } => Box::new(move |worker| {
                let mut headers = vec![(":method", "GET"), (":path", "/"), (":authority", "a")];
                headers.extend(key.as_deref().map(|key| ("x-key", key)));
                headers.extend(spoofs.then_some(("x-rudolph-upstream", SPOOFED)));
                let options = RequestOptions::default().on_root(root);
                Ran::Stream(worker.request_with(&headers, &options))
            }),
            Self::AddRoot { text, .. } => Box::new(move |worker| Ran::Root(worker.add_root(text))),
            Self::RemoveRoot { root } => {
                Box::new(move |worker| Ran::Nothing(worker.remove_root(root)))
            }
        }
    }

    /// The members that the worker may publish during this job.
    pub(crate) fn lesson(&self) -> Option<&Members> {
        match self {
            Self::Answer { answer, .. } => answer.lesson.as_ref(),
            _ => None,
        }
    }

    /// In a few words, for the history.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Tick { root } => format!("ticks root {root}"),
            Self::Answer { root, answer, .. } => {
                format!("root {root} hears the admin interface answer {}", answer.name)
            }
            Self::Request { root, key, .. } => format!("root {root} gets a request for {key:?}"),
            Self::AddRoot { variant, .. } => format!("takes configuration {variant}"),
            Self::RemoveRoot { root } => format!("drops root {root}"),
        }
    }
}
