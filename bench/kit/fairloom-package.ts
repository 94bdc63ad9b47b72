/**
 * Fairloom as it is published: the built code, not the sources through a loader.
 * `run.ts` builds it first when it is outdated.
 */
type Fairloom = typeof import('../../src/index.ts');
type FairloomFile = typeof import('../../src/file.ts');
type FairloomMetrics = typeof import('../../src/metrics.ts');
type FairloomRedis = typeof import('../../src/redis.ts');

export async function loadFairloom(): Promise<Fairloom> {
  const built: Fairloom = await import(entry('index'));
  return built;
}

export async function loadFairloomFile(): Promise<FairloomFile> {
  const built: FairloomFile = await import(entry('file'));
  return built;
}

export async function loadFairloomMetrics(): Promise<FairloomMetrics> {
  const built: FairloomMetrics = await import(entry('metrics'));
  return built;
}

export async function loadFairloomRedis(): Promise<FairloomRedis> {
  const built: FairloomRedis = await import(entry('redis'));
  return built;
}

function entry(name: string): string {
  return new URL(`../../dist/${name}.js`, import.meta.url).href;
}
