use rudolph_load_generator::{BottleneckReason, Report};

/// The last lines of a run, and why its figures are in doubt, if they are.
pub(crate) fn summary(
    report: &Report,
    plain_peaks: &[f64],
    doubt: &[BottleneckReason],
) -> Vec<String> {
    let causes: Vec<String> =
        report.errors.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
    let causes = match causes.as_slice() {
        [] => String::new(),
        causes => format!(" ({})", causes.join(", ")),
    };
    let mut lines = vec![
        String::new(),
        format!("{} requests, {} errors{causes}", report.requests, report.error_count),
        format!(
            "{:.0} requests/s, p50 {:.1} ms, p99 {:.1} ms, hit rate {:.1} %, hottest server {:.2} of the mean",
            report.rps,
            report.latency.p50_ms,
            report.latency.p99_ms,
            report.hit_percent,
            report.peak_over_mean_by_second,
        ),
    ];
    if !plain_peaks.is_empty() {
        let mean = plain_peaks.iter().sum::<f64>() / plain_peaks.len() as f64;
        lines.push(format!("hashing alone would have put {mean:.2} of the mean on one server"));
    }
    let reasons = doubt.iter();
    lines.extend(
        reasons.map(|reason| format!("this machine was too busy for exact figures: {reason}")),
    );
    lines
}
