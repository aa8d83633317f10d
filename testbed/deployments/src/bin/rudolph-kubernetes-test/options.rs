use std::path::PathBuf;

use clap::Parser;

/// Checks the Kubernetes sidecar on the cluster that KUBECONFIG names.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Options {
    /// The program that is all of Kubernetes; `kubectl` is one of its parts
    #[arg(long)]
    pub(crate) kubernetes: PathBuf,
    /// A copy of envoy/kubernetes-sidecar with the module in it
    #[arg(long)]
    pub(crate) sidecar: PathBuf,
    /// Envoy, to validate the embedded configuration
    #[arg(long)]
    pub(crate) envoy: PathBuf,
    /// A folder for what is written meanwhile
    #[arg(long)]
    pub(crate) scratch: PathBuf,
    /// Why there is no node; what needs one is then skipped by name
    #[arg(long)]
    pub(crate) no_pods: Option<String>,
}
