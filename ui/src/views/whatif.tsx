import type { WhatIf as Play } from "../model/page.gen";
import { get, set } from "../state/url";
import { Name, Time } from "./parts";

interface Position {
  factor: number;
  play: Play | null; // null: as recorded
}

/** Replays of the recorded arrivals at a server with a change, on a slider for each kind of change. */
export function WhatIf({ plays, at }: { plays: Play[]; at: string }) {
  const kinds = kindsOf(plays);
  const [kind, positions] = kinds.find(([k]) => k === get("kind")) ?? kinds[0];
  const recorded = positions.findIndex((p) => p.play === null);
  const found = positions.findIndex((p) => p.play?.change === get("whatif"));
  const now = found < 0 ? recorded : found;
  const play = positions[now].play;
  const said = play ? play.words : "as recorded";
  return (
    <div class="whatif">
      <h3>What if <small>the recorded arrivals, replayed at what requests wait for</small></h3>
      <div class="tools">
        <fieldset class="choice"><legend class="out">What changes</legend>{kinds.map(([k]) => (
          <button key={k} type="button" aria-pressed={k === kind} onClick={() => set({ kind: k, whatif: "" })}>{k}</button>
        ))}</fieldset>
        <input type="range" aria-label={`what if: ${kind}`} aria-valuetext={said} min={0} max={positions.length - 1} step={1} value={now}
          onInput={(e) => set({ whatif: positions[Number(e.currentTarget.value)].play?.change ?? "" })} />
        <output><b><Name text={play ? play.change.split(" ").pop()! : "as recorded"} /></b></output>
      </div>
      <p><Name text={said} />{play && <>: {(["mean", "p50", "p99"] as const).map((q) => {
        const r = play[q];
        const i = plays.indexOf(play);
        return r && <span key={q} class="play">{q} <Time v={r.was_ns} of={`${at}.${i}.${q}.was_ns`} /> → <b class={r.is_ns <= r.was_ns ? "good" : "bad"}><Time v={r.is_ns} of={`${at}.${i}.${q}.is_ns`} /></b> </span>;
      })}</>}</p>
      <p class="key">p99: {positions.filter((p) => p.play?.p99).map((p, i) => <>{i > 0 && " · "}<Name text={p.play!.change.split(" ").pop()!} /> <Time v={p.play!.p99!.is_ns} of={`${at}.${plays.indexOf(p.play!)}.p99.is_ns`} /></>)}</p>
    </div>
  );
}

// Plays by what changes ("work", "work Clients.build", "servers", "load"), in the order of how much.
function kindsOf(plays: Play[]): [string, Position[]][] {
  const out = new Map<string, Position[]>();
  for (const play of plays) {
    const words = play.change.split(" ");
    const last = words.pop()!;
    const list = out.get(words.join(" ")) ?? [{ factor: last.startsWith("x") ? 1 : 0, play: null }];
    list.push({ factor: Number(last.replace(/^[x+]/, "")), play });
    out.set(words.join(" "), list);
  }
  for (const list of out.values()) list.sort((a, b) => a.factor - b.factor);
  return [...out];
}
