import { useEffect, useMemo, useState } from "preact/hooks";
import { neighbour } from "../model/load";
import { byCause, waterfall } from "../layout/waterfall";
import type { WebRequest } from "../model/page.gen";
import { get, set } from "../state/url";
import { Piece } from "./piece";
import { Lanes } from "./lanes";
import { RequestLink } from "./verdict";
import { colorOf, Id, Name, Panel, Plain, Stacked, Swatch, Time, When, type Context } from "./parts";

/** One request, piece by piece, with an ordinary one beside it where that is wanted. */
export function Request({ c }: { c: Context }) {
  const id = Number(get("req") || c.page.report!.endpoints[0]?.slowest_request);
  const { request, wrong } = useRequest(c, id);
  const endpoint = c.page.report!.endpoints.find((e) => e.name === request?.endpoint);
  const beside = get("beside") === "" ? null : (endpoint?.typical_request ?? null);
  const other = useRequest(c, beside ?? -1).request;
  if (wrong) return <Panel title={`Request #${id}`}><p>{wrong}</p></Panel>;
  if (!request) return <Panel title={`Request #${id}`}><p>One moment.</p></Panel>;
  const pair = other && other.id !== request.id ? other : null;
  const whole = Math.max(request.duration_ns, pair?.duration_ns ?? 0);
  return (
    <>
      <One c={c} r={request} whole={whole} main aside={<span class="tools">
        <Step c={c} id={id} by={-1} /><Step c={c} id={id} by={1} />
        {request.tree && <button type="button" onClick={() => set({ view: "tree", of: "request", req: id }, true)}>call tree</button>}
        {endpoint && endpoint.typical_request !== id && <button type="button" aria-pressed={pair !== null} onClick={() => set({ beside: pair ? "" : "1" })}>an ordinary one beside it <kbd>b</kbd></button>}
      </span>} />
      {pair && <One c={c} r={pair} whole={whole} aside={<small>an ordinary one of {pair.endpoint}, on the same scale <RequestLink c={c} id={pair.id} /></small>} />}
    </>
  );
}

/** A request told of in full, asked for where the page does not hold it. */
export function useRequest(c: Context, id: number): { request?: WebRequest; wrong: string } {
  const [, again] = useState(0);
  const [wrong, setWrong] = useState("");
  const request = c.details.get(id);
  useEffect(() => {
    setWrong("");
    if (request || id < 0) return;
    if (!c.page.live) return setWrong(`This file tells of some requests in full, and #${id} is none of them: dwell view tells of all.`);
    c.details.ask(id).then(() => again((n) => n + 1), (e: Error) => setWrong(e.message));
  }, [id]);
  return { request, wrong: request ? "" : wrong };
}

// To the next slower or faster request that the page tells of.
function Step({ c, id, by }: { c: Context; id: number; by: number }) {
  const to = useMemo(() => neighbour(c.points, c.details, id, by), [c.points, id]);
  return <button type="button" disabled={to === undefined} onClick={() => set({ req: to!, seg: "", hold: "" }, true)}>{by < 0 ? "slower" : "faster"} <kbd>{by < 0 ? "k" : "j"}</kbd></button>;
}

function One({ c, r, whole, main, aside }: { c: Context; r: WebRequest; whole: number; main?: boolean; aside: preact.ComponentChildren }) {
  const w = useMemo(() => waterfall(r), [r]);
  const causes = byCause(r);
  const start = r.start_ns - c.page.start_ns; // the columns' times count from the recording's start
  return (
    <Panel id={main ? "request" : "beside"} aside={aside} title={<><Id id={r.id} /> <Name text={r.endpoint} /> <Time v={r.duration_ns} of={`show.${r.id}.duration_ns`} /></>}>
      <p class="facts">status {r.status ? <Plain v={r.status} of={`show.${r.id}.status`} /> : "none"} · from <Name text={r.connection.peer} /> (request <Plain v={r.connection.ordinal + 1} of={`show.${r.id}.connection.ordinal + 1`} /> on its connection) · at <When c={c} at={start} of={`show.${r.id}.began_ns`} />
        {r.lossy && <b class="bad"> · facts were lost while it ran</b>}</p>
      <div style={{ width: `${(r.duration_ns / whole) * 100}%` }}>
        <Stacked label={`causes of request ${r.id}`} whole={r.duration_ns} parts={causes.map(([name, value]) => ({ name, value, color: colorOf(c, name) }))} />
      </div>
      <ul class="legend flat">{causes.map(([name, ns]) => <li key={name}><Swatch color={colorOf(c, name)} />{name} <b><Time v={ns} of={`show.${r.id}.by.${name}`} /></b></li>)}</ul>
      <Lanes c={c} r={r} w={w} whole={whole} main={main ?? false} />
      {main && <Piece c={c} r={r} />}
    </Panel>
  );
}
