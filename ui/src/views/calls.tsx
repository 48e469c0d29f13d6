import { human } from "../base/format";
import type { CallGroup, NewConnections } from "../model/page.gen";
import { Count, Measured, Name, Panel, phaseColor, Ratio, Share, Stacked, Swatch, Time, type Context } from "./parts";

const phases: (keyof CallGroup["phases"])[] = ["queue", "dns", "connect", "tls", "send", "remote", "pick-up", "receive"];

const reasons: [keyof NewConnections, string, string][] = [
  ["first", "the first", "the process had none to this peer yet"],
  ["busy", "all in use", "every connection that there had ever been to this peer was in use"],
  ["idle", "another unused", "another one stood open, unused"],
  ["closed_by_us", "closed by us", "no other was open and free; the latest to be closed was closed by the service"],
  ["closed_by_peer", "closed by the peer", "no other was open and free; the latest to be closed was closed by the peer"],
  ["closed", "closed", "no other was open and free; it was not seen who closed the latest"],
];

/** Why connections were opened: what had become of those before. */
function Why({ n, at }: { n?: NewConnections; at: string }) {
  if (!n) return <span class="dim" title="recording rested: what was closed meanwhile is not known">not known</span>;
  return <>{reasons.filter(([k]) => n[k] > 0).map(([k, short, long]) => <span key={k} title={long}><Count v={n[k]} of={`${at}.${k}`} /> {short}</span>)}</>;
}

/** Outgoing calls by peer and operation. */
export function Calls({ c }: { c: Context }) {
  const r = c.page.report!;
  if (r.calls.length === 0) return <Panel title="Calls"><p>No outgoing call was seen.</p></Panel>;
  const mean = (g: CallGroup) => phases.reduce((s, p) => s + g.phases[p], 0);
  const seen = r.recording.windows?.seconds ?? r.recording.seconds;
  const longest = Math.max(...r.calls.map(mean));
  return (
    <Panel title="Calls to others">
      <ul class="legend flat">{phases.map((p) => <li key={p}><Swatch color={phaseColor(c, p)} />{p}</li>)}</ul>
      <div class="scroll" tabIndex={0} role="region" aria-label="table"><table class="calls">
        <thead><tr><th scope="col">peer</th><th scope="col">operation</th><th scope="col" class="num">calls</th><th scope="col" class="num">a second</th><th scope="col" class="num">a request</th><th scope="col" class="num">on new connections</th><th scope="col">opened because</th><th scope="col" class="num">p50</th><th scope="col" class="num">p99</th><th scope="col" class="num">max</th><th scope="col" class="num">of all time</th><th scope="col">phases of a mean call</th></tr></thead>
        <tbody>{r.calls.map((g, i) => (
          <tr key={g.peer + g.operation}>
            <th scope="row"><Name text={g.peer} /></th><td><Name code text={g.operation || "unknown"} /></td>
            <td class="num"><Count v={g.count} of={`calls.${i}.count`} /></td>
            <td class="num"><Measured v={g.count / seen} unit="per_second" of={`calls.${i}.count / ${r.recording.windows ? "recording.windows.seconds" : "recording.seconds"}`} /></td>
            <td class="num"><Ratio v={g.count / r.requests.count} of={`calls.${i}.count / requests.count`} /></td>
            <td class="num"><Share v={g.new_connection_share} of={`calls.${i}.new_connection_share`} /></td>
            <td class="why"><Why n={g.new_connections} at={`calls.${i}.new_connections`} /></td>
            <td class="num"><Time v={g.p50_ns} of={`calls.${i}.p50_ns`} /></td>
            <td class="num"><Time v={g.p99_ns} of={`calls.${i}.p99_ns`} /></td>
            <td class="num"><Time v={g.max_ns} of={`calls.${i}.max_ns`} /></td>
            <td class="num"><Share v={g.time_share} of={`calls.${i}.time_share`} /></td>
            <td class="bars"><Stacked label={`phases: ${phases.filter((p) => g.phases[p] > 0).map((p) => `${p} ${human(g.phases[p])}`).join(", ")}`} whole={mean(g) || 1} scale={mean(g) / longest}
              parts={phases.map((name) => ({ name: `${name} ${human(g.phases[name])}`, value: g.phases[name], color: phaseColor(c, name) }))} /></td>
          </tr>
        ))}</tbody>
      </table></div>
    </Panel>
  );
}
