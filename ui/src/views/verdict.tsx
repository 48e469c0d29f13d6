import type { Evidence, Finding, Refuted, Undecided } from "../model/page.gen";
import { Chart } from "./chart";
import { WhatIf } from "./whatif";
import { Failed, Traffic, Where } from "./where";
import { Count, Drawn, Fold, Id, Link, Measured, Name, Panel, Seconds, Share, Time, type Context } from "./parts";

/** The answer first: what is wrong, how that is known, what a fix saves. */
export function Verdict({ c }: { c: Context }) {
  const r = c.page.report!;
  if (r.requests.count === 0) return <Panel title="No requests"><p class="lines"><Name text={c.page.seen.unrecorded.trim()} /></p></Panel>;
  const first = c.page.seen.first_lead;
  const none = r.findings.length + r.leads.length === 0;
  const chart = <Panel title="Latency over time" aside={<Link to={{ view: "requests" }}>requests</Link>}><Chart c={c} height={300} /></Panel>;
  return (
    <>
      <Answer c={c} />
      <div class="split">
        <div>
          {r.findings.map((f, i) => <FindingCard key={f.id + f.place} c={c} f={f} i={i} of="findings" />)}
          {r.findings.length === 0 && r.leads.length > 0 && <FindingCard c={c} f={r.leads[first]} i={first} of="leads" />}
          {none && <Panel title="Nothing found"><p>No mechanism that dwell knows is worth a word here: below stands what was ruled out, and by which number.</p></Panel>}
        </div>
        <div><Traffic c={c} /><Where c={c} />{!none && chart}</div>
      </div>
      {none && chart}
      <Leads c={c} but={r.findings.length === 0 ? first : -1} />
      <Others c={c} />
    </>
  );
}

function Answer({ c }: { c: Context }) {
  const r = c.page.report!;
  const { mood, verdict, where, promises } = c.page.seen;
  return (
    <section class={`answer ${mood}`}>
      <h1><Name text={verdict} /></h1>
      <p class="where-goes"><Name text={where} /></p>
      {promises.map((p, i) => <p key={i} class={`promise ${p.mood}`}><b>SLO</b> <Name text={p.text} /></p>)}
      <dl class="figures">
        <div><dt>requests</dt><dd><Count v={r.requests.count} of="requests.count" /></dd></div>
        <div><dt>a second</dt><dd><Measured v={r.requests.per_second} unit="per_second" of="requests.per_second" /></dd></div>
        <div><dt><Name text="5xx" /></dt><dd><Failed t={r.requests} at="requests" /></dd></div>
        <div><dt>mean</dt><dd><Time v={r.requests.mean_ns} of="requests.mean_ns" /></dd></div>
        <div><dt>p50</dt><dd><Time v={r.requests.p50_ns} of="requests.p50_ns" /></dd></div>
        <div><dt>p90</dt><dd><Time v={r.requests.p90_ns} of="requests.p90_ns" /></dd></div>
        <div><dt>p99</dt><dd><Time v={r.requests.p99_ns} of="requests.p99_ns" /></dd></div>
        <div><dt>max</dt><dd><Time v={r.requests.max_ns} of="requests.max_ns" /></dd></div>
        <div><dt>of unknown cause</dt><dd><Share v={r.requests.unknown_share} of="requests.unknown_share" /></dd></div>
        <div><dt>recorded</dt><dd><Seconds v={r.recording.seconds} of="recording.seconds" /></dd></div>
        <div><dt>facts lost</dt><dd class={r.recording.lost > 0 ? "bad" : ""}><Count v={r.recording.lost} of="recording.lost" /></dd></div>
        <div><dt>dwell’s own cost</dt><dd><Share v={r.recording.overhead_cpu_share} of="recording.overhead_cpu_share" /> <small>of a core</small></dd></div>
      </dl>
    </section>
  );
}

function FindingCard({ c, f, i, of: list }: { c: Context; f: Finding; i: number; of: "findings" | "leads" }) {
  const e = c.page.report!.endpoints.find((x) => x.name === f.endpoint);
  const of = e ?? c.page.report!.requests;
  const path = e ? `endpoints.${c.page.report!.endpoints.indexOf(e)}` : "requests";
  const whole = Math.max(of.mean_ns, of.p50_ns, of.p99_ns);
  const at = `${list}.${i}`;
  return (
    <article class={`panel finding ${list}`} id={`finding-${i}`}>
      <header><h2>{list === "leads" ? <span class="tag">lead</span> : <span class="rank"><Drawn>{i + 1}</Drawn></span>} {f.id}</h2><span class="where"><Name text={f.endpoint || "all endpoints"} /></span></header>
      <p class="title"><Name text={f.title} /></p>
      <table class="saving"><caption class="out">What a fix saves</caption><tbody>
        {(["mean", "p50", "p99"] as const).map((q) => <Saving key={q} name={q} before={of[`${q}_ns`]} path={`${path}.${q}_ns`} f={f} whole={whole} at={`${at}.impact`} />)}
      </tbody></table>
      {f.why && <p>{list === "leads" ? "No finding: " : ""}<Name text={f.why} />.</p>}
      {f.decide && <p class="next"><b>What would decide it:</b> <Name text={f.decide} /></p>}
      {(f.impact.mean_of ?? []).length > 1 && <p class="share">Of the mean's saving: {f.impact.mean_of!.map((s, k) => <>{k > 0 && ", "}<Time v={s.ns} of={`${at}.impact.mean_of.${k}.ns`} /> {s.phase ? `in ${s.phase}` : c.page.causes.find((x) => x.name === s.cause)?.means}</>)}.</p>}
      <p class="share"><Share v={f.impact.share} of={`${at}.impact.share`} /> of the time of {f.endpoint || "all requests"} goes into it.</p>
      {f.what_if && f.what_if.length > 0 && <WhatIf plays={f.what_if} at={`${at}.what_if`} />}
      <h3>Because</h3>
      <EvidenceList c={c} list={f.evidence} at={`${at}.evidence`} />
      {f.fix && <><h3>{list === "leads" ? "Fix, if it is this" : "Fix"}</h3><p><Name text={f.fix} /></p></>}
      {f.next && f.next !== f.decide && <p class="next"><Name text={f.next} /></p>}
    </article>
  );
}

function Saving({ name, before, path, f, whole, at }: { name: "mean" | "p50" | "p99"; before: number; path: string; f: Finding; whole: number; at: string }) {
  const [saved, least] = [f.impact[`${name}_saving_ns`], f.impact.lower_bound];
  const after = Math.max(0, before - saved);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="bars">
        <span class="bar before" style={{ width: `${(before / whole) * 100}%` }}><span class="bar after" style={{ width: `${before ? (after / before) * 100 : 0}%` }} /></span>
      </td>
      <td><Time v={before} of={path} /> → <b>{saved > 0 ? (least ? "≤ " : "≈ ") : ""}<Time v={after} of={`${path} - ${at}.${name}_saving_ns`} /></b></td>
      <td class="saved">{saved > 0 ? <>saves {least ? "≥ " : ""}<Time v={saved} of={`${at}.${name}_saving_ns`} /> <small title="with 90 % confidence">(<Time v={f.impact[`${name}_low_ns`]} of={`${at}.${name}_low_ns`} /> to <Time v={f.impact[`${name}_high_ns`]} of={`${at}.${name}_high_ns`} />)</small></> : "stays"}</td>
    </tr>
  );
}

/** Measured quantities, each with the bound it was held against and requests that show it. */
export function EvidenceList({ c, list, at }: { c: Context; list: Evidence[]; at: string }) {
  const rows = list.map((e, i) => ({ e, row: <Measure key={i} c={c} e={e} shown={String(e.requests) !== String(list[i - 1]?.requests)} at={`${at}.${i}`} /> }));
  const none = rows.filter(({ e }) => never(e, list));
  return (
    <>
      <ul class="evidence">{rows.filter(({ e }) => !never(e, list)).map(({ row }) => row)}</ul>
      {none.length > 0 && <Fold plain name={`none-${at.replaceAll(".", "-")}`} title={<><Drawn>{none.length}</Drawn> more came out as zero</>}><ul class="evidence">{none.map(({ row }) => row)}</ul></Fold>}
    </>
  );
}

// What did not happen at all, as the text leaves it out. A share of nothing tells something, and what was measured
// on requests of its own: its time in an ordinary one.
const never = (e: Evidence, list: Evidence[]): boolean =>
  e.value === 0 && !(e.unit === "share" && e.bound === null) && String(e.requests) === String(list[0].requests);

const Measure = ({ c, e, shown, at }: { c: Context; e: Evidence; shown: boolean; at: string }) => (
  <li>
    <b><Measured v={e.value} unit={e.unit} of={`${at}.value`} /></b> <span><Name text={e.what} />
    {e.bound !== null && <small> (bound <Measured v={e.bound} unit={e.unit} of={`${at}.bound`} />)</small>}
    {shown && e.requests && e.requests.length > 0 && <small class="shows"> shown by {e.requests.slice(0, 4).map((id) => <RequestLink key={id} c={c} id={id} />)}</small>}</span>
  </li>
);

/** Leads to a request, if the page can tell of it. */
export function RequestLink({ c, id }: { c: Context; id: number }) {
  if (!c.details.has(id)) return <span class="dim"> <Id id={id} /></span>;
  return <Link class="id" to={{ view: "request", req: id, seg: "", hold: "", call: "" }}> <Id id={id} /></Link>;
}

// Time worth having, whose cause lies elsewhere or is not proven.
function Leads({ c, but }: { c: Context; but: number }) {
  const list = c.page.report!.leads.map((f, i) => ({ f, at: `leads.${i}` })).filter((_, i) => i !== but);
  if (list.length === 0) return null;
  return (
    <Panel title={<>Leads <span class="count"><Count v={list.length} of={but < 0 ? "leads.length" : "leads.length - 1"} /></span> <small>time worth having, whose cause lies elsewhere or is not proven</small></>}>
      <ul class="leads">{list.map(({ f, at }) => (
        <li key={at}><p class="title"><Name text={f.title} /></p>
          <p><b>{f.id}</b>, <Name text={f.why ?? ""} />; at most the mean falls by <Time v={f.impact.mean_saving_ns} of={`${at}.impact.mean_saving_ns`} />, p99 by <Time v={f.impact.p99_saving_ns} of={`${at}.impact.p99_saving_ns`} />.</p>
          {f.decide && <p class="next"><b>What would decide it:</b> <Name text={f.decide} /></p>}
          {f.what_if && f.what_if.length > 0 && <WhatIf plays={f.what_if} at={`${at}.what_if`} />}</li>
      ))}</ul>
    </Panel>
  );
}

// What was ruled out and what could not be told, counted and one click away.
function Others({ c }: { c: Context }) {
  const r = c.page.report!;
  return (
    <div class="others">
      {r.minor.length > 0 && <Fold name="minor" title={<>Minor here <span class="count"><Count v={r.minor.length} of="minor.length" /></span> <small>seen, and not worth much, or what goes with a finding</small></>}>
        <ul class="list">{r.minor.map((x) => <li key={x.id + x.place}><b>{x.id}</b> <Name text={x.why ?? ""} /> <small><Name text={x.title} /></small></li>)}</ul>
      </Fold>}
      <Fold name="refuted" title={<>Ruled out <span class="count"><Count v={r.refuted.length} of="refuted.length" /></span> <small>each with the number that does</small></>}>
        <ul class="list">{r.refuted.map((x: Refuted, i) => <li key={x.id}><b>{x.id}</b> <small>at most <Share v={x.time_share} of={`refuted.${i}.time_share`} /></small> <Name text={x.why} /></li>)}</ul>
      </Fold>
      <Fold name="undecided" title={<>Undecided <span class="count"><Count v={r.undecided.length} of="undecided.length" /></span> <small>and what would decide it</small></>}>
        <ul class="list">{r.undecided.map((x: Undecided) => <li key={x.id}><b>{x.id}</b> <Name text={x.missing} /></li>)}</ul>
      </Fold>
      <Panel title="What could not be seen, and what it cost">
        <p><Name text={c.page.seen.footer} /></p>
        {c.page.seen.missing.length > 0 ? <ul class="list">{c.page.seen.missing.map((m) => <li key={m}><Name text={m} /></li>)}</ul>
          : <p>Nothing was missing that dwell looks for.</p>}
      </Panel>
    </div>
  );
}
