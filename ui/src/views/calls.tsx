import { human } from "../base/format";
import type { CallGroup } from "../model/page.gen";
import { Count, Name, Panel, phaseColor, Ratio, Share, Stacked, Swatch, Time, type Context } from "./parts";

const phases: (keyof CallGroup["phases"])[] = ["queue", "dns", "connect", "tls", "send", "remote", "pick-up", "receive"];

/** Outgoing calls by peer and operation. */
export function Calls({ c }: { c: Context }) {
  const r = c.page.report!;
  if (r.calls.length === 0) return <Panel title="Calls"><p>No outgoing call was seen.</p></Panel>;
  const mean = (g: CallGroup) => phases.reduce((s, p) => s + g.phases[p], 0);
  const longest = Math.max(...r.calls.map(mean));
  return (
    <Panel title="Calls to others">
      <ul class="legend flat">{phases.map((p) => <li key={p}><Swatch color={phaseColor(c, p)} />{p}</li>)}</ul>
      <div class="scroll" tabIndex={0} role="region" aria-label="table"><table class="calls">
        <thead><tr><th scope="col">peer</th><th scope="col">operation</th><th scope="col" class="num">calls</th><th scope="col" class="num">a request</th><th scope="col" class="num">on new connections</th><th scope="col" class="num">p50</th><th scope="col" class="num">p99</th><th scope="col" class="num">max</th><th scope="col" class="num">of all time</th><th scope="col">phases of a mean call</th></tr></thead>
        <tbody>{r.calls.map((g, i) => (
          <tr key={g.peer + g.operation}>
            <th scope="row"><Name text={g.peer} /></th><td><Name code text={g.operation || "unknown"} /></td>
            <td class="num"><Count v={g.count} of={`calls.${i}.count`} /></td>
            <td class="num"><Ratio v={g.count / r.requests.count} of={`calls.${i}.count / requests.count`} /></td>
            <td class="num"><Share v={g.new_connection_share} of={`calls.${i}.new_connection_share`} /></td>
            <td class="num"><Time v={g.p50_ns} of={`calls.${i}.p50_ns`} /></td>
            <td class="num"><Time v={g.p99_ns} of={`calls.${i}.p99_ns`} /></td>
            <td class="num"><Time v={g.max_ns} of={`calls.${i}.max_ns`} /></td>
            <td class="num"><Share v={g.time_share} of={`calls.${i}.time_share`} /></td>
            <td class="bars wide"><Stacked label={`phases: ${phases.filter((p) => g.phases[p] > 0).map((p) => `${p} ${human(g.phases[p])}`).join(", ")}`} whole={mean(g) || 1} scale={mean(g) / longest}
              parts={phases.map((name) => ({ name: `${name} ${human(g.phases[name])}`, value: g.phases[name], color: phaseColor(c, name) }))} /></td>
          </tr>
        ))}</tbody>
      </table></div>
    </Panel>
  );
}
