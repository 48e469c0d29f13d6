/** Reads a column: whole numbers in base64, after how many bytes each of them has the lowest of each, the next of each, and so on. */
export function column(base64: string): Float64Array {
  const bytes = bytesOf(base64);
  if (bytes.length === 0) return new Float64Array(0);
  const count = (bytes.length - 1) / bytes[0];
  const out = new Float64Array(count);
  for (let at = 1, by = 1; at < bytes.length; at += count, by *= 256) {
    for (let i = 0; i < count; i++) out[i] += bytes[at + i] * by;
  }
  return out;
}

/** A column of differences, summed up. */
export function summed(base64: string): Float64Array {
  const out = column(base64);
  for (let i = 1; i < out.length; i++) out[i] += out[i - 1];
  return out;
}

/** A column of lists: of each how many there are, and these. */
export function lists(base64: string): number[][] {
  const all = column(base64);
  const out: number[][] = [];
  for (let at = 0; at < all.length; at += all[at] + 1) out.push([...all.subarray(at + 1, at + 1 + all[at])]);
  return out;
}

/** What was packed: JSON, with gzip, in base64. */
export async function unpacked<T>(base64: string): Promise<T> {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old to unpack what is in it");
  const packed = new Blob([bytesOf(base64) as Uint8Array<ArrayBuffer>]).stream();
  return new Response(packed.pipeThrough(new DecompressionStream("gzip"))).json();
}

function bytesOf(base64: string): Uint8Array {
  const known = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }; // in newer browsers
  if (known.fromBase64) return known.fromBase64(base64);
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}
