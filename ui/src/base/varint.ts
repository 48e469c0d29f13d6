/** Reads a column: whole numbers as variable-length integers, in base64. */
export function column(base64: string, count: number): Float64Array {
  const out = new Float64Array(count);
  const bytes = bytesOf(base64 ?? "");
  let at = 0;
  for (let i = 0; i < count; i++) {
    let b = bytes[at++];
    let value = b & 0x7f;
    for (let by = 128; b > 0x7f; by *= 128) {
      b = bytes[at++];
      value += (b & 0x7f) * by;
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

function bytesOf(base64: string): Uint8Array {
  const known = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }; // in newer browsers
  if (known.fromBase64) return known.fromBase64(base64);
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}
