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
            "{:.0} requests/s, p50 {:.1} ms, p99 {:.1} ms, hit rate {:.1} %",
            report.rps, report.latency.p50_ms, report.latency.p99_ms, report.hit_percent,
        ),
    ];
    let plain = plain_peaks.iter().sum::<f64>() / plain_peaks.len().max(1) as f64;
    if plain > 0.0 {
        let peak = report.peak_over_mean_by_second;
        lines.push(format!(
            "hottest server at {peak:.2} of the mean; hashing alone would have put {plain:.2} on one"
        ));
    }
    let reasons = doubt.iter();
    lines.extend(
        reasons.map(|reason| format!("this machine was too busy for exact figures: {reason}")),
    );
    lines
}
