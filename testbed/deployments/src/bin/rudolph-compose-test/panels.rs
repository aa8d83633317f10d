//! The dashboard's queries, asked as Grafana would ask them.

use rudolph_deployments::{Checks, Failure, eventually, get};
use serde_json::Value;

use crate::figures::query;
use crate::homes::PATIENCE;
use crate::stack::Stack;

const DASHBOARD: &str = "envoy/compose/grafana/dashboards/rudolph.json";
/// What Grafana puts there: four times the scrape interval, with a point more at each end.
const RATE_INTERVAL: &str = "30s";

struct Panel {
    title: String,
    queries: Vec<String>,
}

pub(crate) async fn check_all(stack: &Stack, checks: &mut Checks) {
    let panels = match panels(stack) {
        Ok(panels) => panels,
        Err(failure) => {
            checks.check("the dashboard is read", async { Err(failure) }).await;
            return;
        }
    };
    for panel in panels {
        let name = format!("panel \"{}\"", panel.title);
        checks.check(&name, has_data(stack, &panel)).await;
    }
}

fn panels(stack: &Stack) -> Result<Vec<Panel>, Failure> {
    let unreadable = |reason: String| Failure::unreadable(DASHBOARD, reason);
    let text = std::fs::read_to_string(stack.file(DASHBOARD))
        .map_err(|error| unreadable(error.to_string()))?;
    let dashboard: Value =
        serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    let panels: Vec<Panel> =
        dashboard["panels"].as_array().into_iter().flatten().map(panel).collect();
    if panels.is_empty() || panels.iter().any(|panel| panel.queries.is_empty()) {
        return Err(unreadable("a panel without queries, or no panel".to_owned()));
    }
    Ok(panels)
}

fn panel(panel: &Value) -> Panel {
    let targets = panel["targets"].as_array().into_iter().flatten();
    let queries = targets.filter_map(|target| target["expr"].as_str());
    let queries = queries.map(|query| query.replace("$__rate_interval", RATE_INTERVAL));
    Panel {
        title: panel["title"].as_str().unwrap_or("without a title").to_owned(),
        queries: queries.collect(),
    }
}

/// Every query has a number to draw.
async fn has_data(stack: &Stack, panel: &Panel) -> Result<String, Failure> {
    let mut shown = Vec::new();
    for text in &panel.queries {
        let value = eventually(PATIENCE, async || {
            let found = query(stack, text).await?;
            let number = found.values().copied().find(|value| value.is_finite());
            number.ok_or_else(|| Failure::unmet(text, "a number", format!("{found:?}")))
        });
        shown.push(format!("{:.4}", value.await?));
    }
    Ok(shown.join(", "))
}

/// Grafana itself, with what was provisioned.
pub(crate) async fn in_grafana(stack: &Stack) -> Result<String, Failure> {
    stack.start_grafana().await?;
    let body = eventually(PATIENCE, async || {
        Ok(get(stack.grafana(), "/api/dashboards/uid/rudolph").await?)
    });
    let body: Value = serde_json::from_str(&body.await?)
        .map_err(|error| Failure::unreadable("Grafana's dashboard", error))?;
    let count = body.pointer("/dashboard/panels").and_then(Value::as_array).map_or(0, Vec::len);
    let wanted = panels(stack)?.len();
    Failure::unless(count == wanted, "panels", wanted, count)?;
    Ok(format!("{count} panels"))
}
