/**
 * Animated GIF, written here: pictures in, bytes out.
 *
 * In:   frames of red, green, blue, alpha bytes, all of one size, and how long each is shown.
 * Out:  a GIF89a that plays for ever. Each frame has its own 256 colours; where there are no more than that, they are exact.
 */

export interface GifFrame {
  readonly pixels: Uint8ClampedArray | Uint8Array; // RGBA, row by row
  readonly seconds: number;
}

const CLEAR_LIMIT = 4096; // codes of twelve bits

/** A number of two bytes. */
function short(value: number): readonly [number, number] {
  return [value & 255, (value >> 8) & 255];
}

function letters(text: string): number[] {
  return [...text].map((letter) => letter.charCodeAt(0));
}

/** One frame after the other: of a long film only the bytes are kept. */
export class GifWriter {
  private readonly parts: Uint8Array<ArrayBuffer>[] = []; // the beginning, then a frame each

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {
    const out = [...letters("GIF89a"), ...short(width), ...short(height)];
    out.push(0x70, 0, 0); // no colour table for all frames; eight bits a colour
    out.push(0x21, 0xff, 11, ...letters("NETSCAPE2.0"), 3, 1, 0, 0, 0); // for ever
    this.parts.push(Uint8Array.from(out));
  }

  add({ pixels, seconds }: GifFrame): void {
    const { palette, indices } = quantise(pixels);
    const out = [0x21, 0xf9, 4, 0x04, ...short(Math.round(seconds * 100)), 0, 0]; // stays until the next one
    out.push(0x2c, 0, 0, 0, 0, ...short(this.width), ...short(this.height));
    out.push(0x87, ...palette); // its own table of 256 colours
    compress(out, indices);
    this.parts.push(Uint8Array.from(out));
  }

  end(): Blob {
    return new Blob([...this.parts, Uint8Array.of(0x3b)], { type: "image/gif" });
  }
}

/** LZW with codes of nine to twelve bits, in blocks of up to 255 bytes. */
function compress(out: number[], indices: Uint8Array): void {
  const clear = 256;
  const end = 257;
  out.push(8);
  const block: number[] = [];
  let bits = 0;
  let held = 0;
  const flush = () => {
    if (block.length === 0) return;
    out.push(block.length, ...block);
    block.length = 0;
  };
  let size = 9;
  const write = (code: number) => {
    held |= code << bits;
    bits += size;
    while (bits >= 8) {
      block.push(held & 255);
      held >>>= 8;
      bits -= 8;
      if (block.length === 255) flush();
    }
  };
  // A code and the next byte: the code of both, or 0.
  let table = new Uint16Array(CLEAR_LIMIT * 256);
  let next = end + 1;
  write(clear);
  let prefix = indices[0] ?? 0;
  for (let at = 1; at < indices.length; at++) {
    const byte = indices[at]!;
    const known = table[prefix * 256 + byte]!;
    if (known !== 0) {
      prefix = known;
      continue;
    }
    write(prefix);
    if (next < CLEAR_LIMIT) {
      table[prefix * 256 + byte] = next++;
      if (next > 1 << size && size < 12) size += 1;
    } else {
      write(clear);
      table = new Uint16Array(CLEAR_LIMIT * 256);
      next = end + 1;
      size = 9;
    }
    prefix = byte;
  }
  write(prefix);
  write(end);
  if (bits > 0) block.push(held & 255);
  flush();
  out.push(0);
}

/** At most 256 colours: the true ones where there are few, else those of boxes cut at their medians. */
export function quantise(pixels: Uint8ClampedArray | Uint8Array): {
  readonly palette: Uint8Array;
  readonly indices: Uint8Array;
} {
  const counts = new Map<number, number>();
  const colours = new Uint32Array(pixels.length / 4);
  for (let at = 0; at < colours.length; at++) {
    const colour = (pixels[4 * at]! << 16) | (pixels[4 * at + 1]! << 8) | pixels[4 * at + 2]!;
    colours[at] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const chosen = new Map<number, number>();
  const palette = new Uint8Array(768);
  const boxes = counts.size <= 256 ? [...counts.keys()].map((colour) => [colour]) : cutBoxes(counts);
  boxes.forEach((box, index) => {
    for (let channel = 0; channel < 3; channel++) {
      let sum = 0;
      let weight = 0;
      for (const colour of box) {
        const count = counts.get(colour)!;
        sum += count * part(colour, channel);
        weight += count;
      }
      palette[3 * index + channel] = Math.round(sum / weight);
    }
    for (const colour of box) chosen.set(colour, index);
  });
  return { palette, indices: Uint8Array.from(colours, (colour) => chosen.get(colour)!) };
}

function part(colour: number, channel: number): number {
  return (colour >> (16 - 8 * channel)) & 255;
}

function cutBoxes(counts: ReadonlyMap<number, number>): number[][] {
  const boxes: { colours: number[]; span: number; channel: number }[] = [measure([...counts.keys()])];
  while (boxes.length < 256) {
    let widest = 0;
    for (let at = 1; at < boxes.length; at++) if (boxes[at]!.span > boxes[widest]!.span) widest = at;
    const { colours, span, channel } = boxes[widest]!;
    if (span === 0) break;
    colours.sort((one, other) => part(one, channel) - part(other, channel));
    const half = colours.length >> 1;
    boxes.splice(widest, 1, measure(colours.slice(0, half)), measure(colours.slice(half)));
  }
  return boxes.map((box) => box.colours);
}

function measure(colours: number[]): { colours: number[]; span: number; channel: number } {
  let [span, channel] = [0, 0];
  for (let each = 0; each < 3; each++) {
    let [low, high] = [255, 0];
    for (const colour of colours) {
      const value = part(colour, each);
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (high - low > span) [span, channel] = [high - low, each];
  }
  return { colours, span: colours.length < 2 ? 0 : span, channel };
}
