/** Before any test: the Lua scripts are those of the files that are here now. */
export async function setup(): Promise<void> {
  await import('../../scripts/lua/bundle.ts');
}
