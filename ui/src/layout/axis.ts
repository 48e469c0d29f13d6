/** Ticks of a logarithmic axis: 1, 2 and 5 of each decade, or decades alone where there are many. */
export function logTicks(from: number, to: number): number[] {
  const decades = Math.log10(to / from);
  const steps = decades > 4 ? [1] : decades > 2.5 ? [1, 3] : [1, 2, 5];
  const out: number[] = [];
  for (let e = Math.floor(Math.log10(from)); e <= Math.ceil(Math.log10(to)); e++) {
    for (const s of steps) {
      const v = s * 10 ** e;
      if (v >= from && v <= to) out.push(v);
    }
  }
  return out;
}

/** Ticks of a linear axis at round numbers, about so many. */
export function ticks(from: number, to: number, about: number): number[] {
  const rough = (to - from) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
  const out: number[] = [];
  for (let v = Math.ceil(from / step) * step; v <= to + step / 1e6; v += step) out.push(v);
  return out;
}

/** Ticks of a time of the recording, at round numbers of the wall clock where that is known. */
export function timeTicks(wall: number, from: number, to: number, about: number): number[] {
  const into = wall % 3600e9;
  return ticks(from + into, to + into, about).map((t) => t - into);
}

/** Where on a logarithmic axis a value lies, from 0 to 1. */
export const logAt = (v: number, from: number, to: number): number => Math.log(Math.max(v, from / 2) / from) / Math.log(to / from);
