import type { Ns } from "../model/page.gen";

const units: [string, number][] = [["us", 1e3], ["ms", 1e6], ["s", 1e9]];

/** A duration as the terminal prints it: three digits and a unit. */
export function human(ns: Ns): string {
  if (ns < 0) return "-" + human(-ns);
  if (ns === 0) return "0 ms";
  if (ns < 1000) return `${ns} ns`;
  for (const [name, size] of units) {
    if (rounded(ns, size) >= 1000 && name !== "s") continue;
    const hundredths = rounded(ns, size / 100);
    if (hundredths < 1000) return `${(hundredths / 100).toFixed(2)} ${name}`;
    const tenths = rounded(ns, size / 10);
    if (tenths < 1000) return `${(tenths / 10).toFixed(1)} ${name}`;
    return `${thousands(rounded(ns, size))} ${name}`;
  }
  return "";
}

const rounded = (ns: number, by: number): number => Math.floor((ns + by / 2) / by);

/** A whole number with commas. */
export const thousands = (n: number): string => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");

/** A share of one with one decimal. */
export const percent = (share: number): string => `${(Math.round(share * 1000) / 10).toFixed(1)} %`;

/** A number of things. */
export const plural = (n: number, noun: string): string => `${thousands(n)} ${noun}${n === 1 ? "" : "s"}`;

/** Seconds with one decimal. */
export const seconds = (s: number): string => `${s.toFixed(1)} s`;

/** An evidence's number in its unit. */
export function measured(value: number, unit: string): string {
  switch (unit) {
    case "ns": return human(value);
    case "share": return percent(value);
    case "count": return thousands(value);
    case "per_second": return `${trimmed(value)} /s`;
    case "ratio": return `${trimmed(value)} x`;
    case "bytes": return bytes(value);
    case "bytes_per_second": return `${bytes(value)}/s`;
  }
  return `${trimmed(value)} ${unit}`;
}

/** An amount of data as the terminal prints it. */
export function bytes(n: number): string {
  n = Math.floor(n);
  if (n < 1000) return `${n} bytes`;
  let [size, unit] = [1000, 0];
  for (; n / size >= 1000 && unit < 3; unit++) size *= 1000;
  const hundredths = Math.floor((n + size / 200) / (size / 100));
  const name = ["kB", "MB", "GB", "TB"][unit];
  if (hundredths < 1000) return `${(hundredths / 100).toFixed(2)} ${name}`;
  if (hundredths < 10000) return `${(Math.floor((hundredths + 5) / 10) / 10).toFixed(1)} ${name}`;
  return `${thousands(Math.floor((hundredths + 50) / 100))} ${name}`;
}

const trimmed = (v: number): string => (v >= 100 ? thousands(v) : String(Math.round(v * 100) / 100));

/** Wall time at a time of the recording, or the time since its start where that is not known. */
export function clock(wall: number, at: Ns, digits = 3): string {
  if (!wall) return `+${(at / 1e9).toFixed(digits)} s`;
  const ms = wall / 1e6 + at / 1e6;
  const d = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  const rest = digits ? "." + String(Math.floor(ms % 1000)).padStart(3, "0").slice(0, digits) : "";
  return `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}${rest}`;
}

/** How a build id begins: enough to tell builds apart. */
export const shortBuild = (id: string): string => id.slice(0, 12);

/** The day on which a recording was made, "" where that is not known. */
export const day = (wall: number): string => (wall ? new Date(wall / 1e6).toISOString().slice(0, 10) : "");

// What a terminal or a reader's eye might take for something else than text.
const tricky = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Text of a stranger's, with what cannot be seen or turns the direction of writing made visible. */
export const safe = (text: string): string => text.replace(tricky, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** How wide that part of a name is which a width has room for, at so many pixels a letter: whole letters, and none where a few say nothing. */
export function roomFor(name: string, width: number, letter: number): number {
  const letters = Math.floor(width / letter);
  return letters < Math.min(4, name.length) ? 0 : Math.min(letters, name.length + 1) * letter;
}

/** What a piece of time went into: its cause, in which phase where that says more. */
export const spent = (phase: string, cause: string): string => (phase === cause ? cause : `${phase}, ${cause}`);
