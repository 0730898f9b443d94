/** The tokens whose states point most nearly the same way: number and cosine, nearest first. */
export function nearestTokens(
  { values, tokens, width }: { values: Float32Array; tokens: number; width: number }, // (token, width)
  token: number,
  most: number,
): { token: number; cosine: number }[] {
  const norm = (at: number) => {
    let sum = 0;
    for (let column = 0; column < width; column++) sum += values[at * width + column]! ** 2;
    return Math.sqrt(sum);
  };
  const own = norm(token);
  const found: { token: number; cosine: number }[] = [];
  for (let other = 0; other < tokens; other++) {
    if (other === token) continue;
    let dot = 0;
    for (let column = 0; column < width; column++)
      dot += values[token * width + column]! * values[other * width + column]!;
    found.push({ token: other, cosine: dot / (own * norm(other) || 1) });
  }
  return found.sort((one, other) => other.cosine - one.cosine || one.token - other.token).slice(0, most);
}
