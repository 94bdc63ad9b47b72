/** Before any test: the Lua scripts and the program of the thread are those of the files that are here now. */
export async function setup(): Promise<void> {
  await import('../../scripts/lua/bundle.ts');
  await import('../../scripts/bundle-compaction.ts');
}
