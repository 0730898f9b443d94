/** The letters of render/html/packing.py, written slowly: for tests of what reads them. */

const LETTERS = Array.from({ length: 94 }, (_, place) => String.fromCharCode(33 + place)).filter(
  (letter) => !"<>&".includes(letter),
);

export function writeLetters(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) =>
    Array.from({ length: 8 }, (_, place) => (byte >> place) & 1),
  ).flat();
  let text = "";
  for (let start = 0; start < bits.length; start += 13) {
    const part = bits.slice(start, start + 13);
    const number = part.reduce((sum, bit, place) => sum + bit * 2 ** place, 0);
    text += part.length <= 6 ? LETTERS[number] : `${LETTERS[Math.floor(number / 91)]}${LETTERS[number % 91]}`;
  }
  return text;
}
