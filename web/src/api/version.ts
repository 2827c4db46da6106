const stages: Record<string, number> = { alpha: 0, beta: 1 };

// compareVersions sorts v1alpha1 before v1beta1 before v1 before v2.
export function compareVersions(a: string, b: string): number {
  const [x, y] = [parts(a), parts(b)];
  for (let i = 0; i < 3; i++) {
    if (x[i] !== y[i]) {
      return x[i]! - y[i]!;
    }
  }
  return a.localeCompare(b);
}

function parts(version: string): number[] {
  const found = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  return found ? [Number(found[1]), found[2] ? stages[found[2]]! : 2, Number(found[3] ?? 0)] : [-1, 0, 0];
}
