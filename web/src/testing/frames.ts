/** Frames as the server writes them, for tests. */

export interface Piece {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
  readonly scale?: string | null;
  readonly maximum?: number;
}

/** A frame as the server writes it. */
export function encode(pieces: readonly Piece[], meta: object = {}): ArrayBuffer {
  let offset = 0;
  const arrays = pieces.map(({ bytes, ...rest }) => {
    const entry = { ...rest, offset, bytes: bytes.length };
    offset += Math.ceil(bytes.length / 8) * 8;
    return entry;
  });
  const words = new TextEncoder().encode(JSON.stringify({ arrays, meta }));
  const header = new Uint8Array(Math.ceil((12 + words.length) / 8) * 8 - 12).fill(0x20);
  header.set(words);
  const out = new Uint8Array(12 + header.length + offset);
  out.set(new TextEncoder().encode("GLASSFR1"));
  new DataView(out.buffer).setUint32(8, header.length, true);
  out.set(header, 12);
  arrays.forEach((entry, place) => {
    out.set(pieces[place]!.bytes, 12 + header.length + entry.offset);
  });
  return out.buffer;
}
