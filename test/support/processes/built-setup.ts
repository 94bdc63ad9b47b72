/** Before a layer that runs dist/: it is built of the files that are here now. */
import { ROOT, runProcess } from './run-process.ts';

export async function setup(): Promise<void> {
  const args = ['--import', 'tsx', 'scripts/ensure-build.ts'];
  const { code, stdout, stderr } = await runProcess(process.execPath, args, { cwd: ROOT });
  if (code !== 0) throw new Error(`dist/ cannot be built:\n${stdout}${stderr}`);
}
