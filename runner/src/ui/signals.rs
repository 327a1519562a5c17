//! Ctrl-C and termination as something to wait for. Unix signals are dealt with here only.

/// Listens for requests to stop, from its creation on.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    kinds: Vec<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Self { kinds: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect() }
    }

    /// Completes when the person or the system asks the process to stop.
    pub(crate) async fn next(&mut self) {
        if self.kinds.is_empty() {
            return std::future::pending().await;
        }
        let waits = self.kinds.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(waits).await;
    }
}

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> Self {
        Self {}
    }

    /// Completes when the person asks the process to stop.
    pub(crate) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
