/** Reads a column: whole numbers as variable-length integers, in base64. */
export function column(base64: string, count: number): Float64Array {
  const out = new Float64Array(count);
  const bytes = atob(base64 ?? "");
  let at = 0;
  for (let i = 0; i < count; i++) {
    let value = 0;
    let by = 1;
    for (;;) {
      const b = bytes.charCodeAt(at++);
      value += (b & 0x7f) * by;
      if (!(b & 0x80)) break;
      by *= 128;
    }
    out[i] = value;
  }
  return out;
}

/** A column of differences, summed up. */
export function summed(base64: string, count: number): Float64Array {
  const out = column(base64, count);
  for (let i = 1; i < count; i++) out[i] += out[i - 1];
  return out;
}
