/**
 * Text back into bytes: render/html/packing.py writes it, and says how.
 *
 * In:   letters, 91 of them, two to 13 bits; what they say is deflated.
 * Out:  the bytes, once inflated.
 */

const DIGITS = new Uint8Array(128); // by the letter's code
for (let code = 33, digit = 0; code < 127; code++) {
  if (!"<>&".includes(String.fromCharCode(code))) DIGITS[code] = digit++;
}

export function readLetters(text: string): Uint8Array<ArrayBuffer> {
  const letters = new TextEncoder().encode(text);
  const { length } = letters;
  const bytes = new Uint8Array((13 * (length >> 1) + 6 * (length & 1)) >> 3); // a last letter alone has 6 bits
  let [held, count, end] = [0, 0, 0];
  for (let place = 0; place < length; place += 2) {
    const first = DIGITS[letters[place]!]!;
    const pair = place + 1 < length;
    held |= (pair ? 91 * first + DIGITS[letters[place + 1]!]! : first) << count;
    for (count += pair ? 13 : 6; count >= 8; count -= 8) {
      bytes[end++] = held;
      held >>= 8;
    }
  }
  return bytes;
}

export async function unpack(element: Element): Promise<ArrayBuffer> {
  const packed = new Blob([readLetters(element.textContent ?? "")]).stream();
  return new Response(packed.pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer();
}
