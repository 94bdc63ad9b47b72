/** Machine and versions of a result; part of every line of it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { ROOT } from '../../scripts/run.ts';

export interface Origin {
  readonly machine: {
    readonly cores: number;
    readonly cpu: string;
    readonly memoryGb: number;
    readonly os: string;
  };
  readonly versions: Readonly<Record<string, string>>;
  /** Of the repository; with `+` if files were changed since. */
  readonly commit: string;
}

const LIBRARIES = ['ioredis', 'bullmq', 'bee-queue', 'fastq', 'p-queue'];

export function originOf(redisVersion: string): Origin {
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  const cpu = cpus()[0]?.model.trim() ?? 'unknown';
  const libraries = LIBRARIES.map((name) => [name, versionOf(`node_modules/${name}/`)]);
  return {
    machine: { cores: availableParallelism(), cpu, memoryGb, os: `${type()} ${release()}` },
    versions: {
      node: process.versions.node,
      redis: redisVersion,
      fairloom: versionOf(''),
      ...Object.fromEntries(libraries),
    },
    commit: commit(),
  };
}

function versionOf(folder: string): string {
  const manifest: { readonly version?: string } = JSON.parse(
    readFileSync(`${ROOT}${folder}package.json`, 'utf8'),
  );
  return manifest.version ?? 'unknown';
}

function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    const changed = git('status', '--porcelain', '--', 'src', 'bench', ':!bench/results') !== '';
    return `${git('rev-parse', '--short=12', 'HEAD')}${changed ? '+' : ''}`;
  } catch {
    return 'unknown';
  }
}
