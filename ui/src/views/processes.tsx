import { day, safe, shortBuild } from "../base/format";
import { distinct } from "../base/color";
import type { Ns } from "../model/page.gen";
import { coloring } from "./legend";
import { Count, Name, Seconds, Swatch, When, type Context } from "./parts";

/** A time of the recording, or before it, with its day where that is another one. */
function Edge({ c, at, unknown, of }: { c: Context; at: Ns | null; unknown: string; of: string }) {
  if (at === null) return <span class="dim">{unknown}</span>;
  const wall = c.page.wall_ns;
  if (!wall && at < 0) return <><Seconds v={-at / 1e9} of={`0 - ${of} / 1000000000`} /> before the recording</>;
  const other = wall && day(wall + at) !== day(wall) ? `${day(wall + at)} ` : "";
  return <><Name text={other || ""} /><When c={c} at={at} of={of} /></>;
}

/** The processes that served requests: which build and version of which program, from when to when. */
export function Processes({ c }: { c: Context }) {
  const { keys } = coloring(c);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="processes"><table class="processes">
      <thead><tr><th scope="col">process</th><th scope="col">executable</th><th scope="col">version</th><th scope="col">build</th><th scope="col">runtime</th><th scope="col">started</th><th scope="col">ended</th><th scope="col" class="num">requests</th></tr></thead>
      <tbody>{c.page.report!.processes.map((g, i) => (
        <tr key={i}><th scope="row"><Swatch color={keys[i]?.color ?? distinct.light[7]} /><Name text={`${g.name} ${g.pid || ""}`} /></th>
          <td>{g.exe ? <Name code text={g.exe} /> : <span class="dim">not recorded</span>}</td>
          <td>{g.version ? <Name text={g.version} /> : <span class="dim" title="--version-env names the variable of the environment that says it">not recorded</span>}</td>
          <td>{g.build ? <span title={safe(g.build)}><Name code text={shortBuild(g.build)} /></span> : <span class="dim">none</span>}</td>
          <td><Name text={g.runtime} /></td>
          <td><Edge c={c} at={g.born_ns} unknown="not recorded" of={`processes.${i}.born_ns`} /></td><td><Edge c={c} at={g.ended_ns} unknown="after the recording" of={`processes.${i}.ended_ns`} /></td>
          <td class="num"><Count v={g.requests} of={`processes.${i}.requests`} /></td></tr>
      ))}</tbody>
    </table></div>
  );
}
