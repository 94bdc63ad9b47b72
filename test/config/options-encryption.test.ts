/** The keys of a configuration: each test is named after the option whose effect it shows. */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { Fairloom, type FairloomOptions, memory, task } from 'fairloom';
import { ConfigError, fairloomOptions, loadConfig, toYaml } from 'fairloom/config';
import { describe, expect, it } from 'vitest';
import { fileOf, load, problemsOf } from './kit.ts';

const key = (): string => randomBytes(32).toString('base64');
const K1 = `k1:${key()}`;
const K2 = `k2:${key()}`;
const echo = task('echo', async (word: string) => word);

/** The codec that a configuration makes. */
async function codecOf(yaml: string, env: Readonly<Record<string, string>> = {}) {
  const { config } = await load(yaml, { env });
  return (await fairloomOptions(config)).codec;
}

/** How an input is stored. */
async function storedBy({ codec }: Pick<FairloomOptions, 'codec'>): Promise<string> {
  const backend = memory();
  const loom = new Fairloom({ backend, tasks: [echo], codec });
  const { id } = await loom.enqueue(echo, 'S3CRET');
  const [record] = await backend.inspect.get([id]);
  await loom.close();
  return record?.payload ?? '';
}

describe('encryption', () => {
  it('encryption.keys encrypts by the first, and reads by all', async () => {
    const codec = await codecOf(`encryption: { keys: "${K2}, ${K1}" }`);
    expect(await storedBy({ codec })).toMatch(/^enc:k2:/);
    const before = await codecOf('{}', { FAIRLOOM_ENCRYPTION_KEYS: K1 });
    expect(await storedBy({ codec: before })).toMatch(/^enc:k1:/);
    expect(codec?.decode(before?.encode({ a: 1 }) ?? '')).toEqual({ a: 1 });
    expect(await codecOf('{}')).toBe(undefined);
  });

  it('encryption.keysFile has them, a key on each line', async () => {
    fileOf(`${K2}\n${K1}\n`, 'keys.txt');
    const codec = await codecOf('encryption: { keysFile: ./keys.txt }');
    expect(await storedBy({ codec })).toMatch(/^enc:k2:/);
    const gone = codecOf('encryption: { keysFile: ./gone.txt }');
    await expect(gone).rejects.toThrow(/encryption\.keysFile.*gone\.txt/s);
    fileOf('no keys at all', 'bad.txt');
    const bad = codecOf('encryption: { keysFile: ./bad.txt }');
    await expect(bad).rejects.toBeInstanceOf(ConfigError);
    await expect(bad).rejects.not.toThrow(/no keys at all/);
  });

  it('encryption.acceptUnencrypted reads what is not encrypted', async () => {
    const backend = memory();
    const bare = new Fairloom({ backend, tasks: [echo] });
    const { id } = await bare.enqueue(echo, 'plain');
    const inputBy = async (yaml: string): Promise<unknown> => {
      const loom = new Fairloom({ backend, tasks: [echo], codec: await codecOf(yaml) });
      return (await loom.tasks.get(id))?.input;
    };
    expect(await inputBy(`encryption: { keys: "${K1}" }`)).toBe(undefined);
    expect(await inputBy(`encryption: { keys: "${K1}", acceptUnencrypted: true }`)).toBe('plain');
    await bare.close();
  });

  // F40
  it('a key is shown nowhere, and one that is none is refused', async () => {
    const secret = K1.slice(3);
    const loaded = await load(`encryption: { keys: "${K1}" }`);
    const shown = inspect(loaded, { depth: 9 }) + JSON.stringify(loaded) + toYaml(loaded.config);
    expect(shown).not.toContain(secret);
    expect(shown).toContain('***');
    for (const keys of [secret, `k1:${secret.slice(4)}`, `${K1} ${K1}`, 'k1', ' ']) {
      const file = fileOf(`encryption: { keys: "${keys}" }`);
      const problems = await problemsOf(loadConfig({ file, env: {} }));
      expect(problems).toHaveLength(1);
      expect(problems[0]?.path).toBe('encryption.keys');
      expect(JSON.stringify(problems)).not.toContain(secret.slice(4));
    }
    for (const yaml of ['{ acceptUnencrypted: true }', `{ keys: "${K1}", keysFile: ./keys.txt }`]) {
      const problems = await problemsOf(load(`encryption: ${yaml}`));
      expect(problems[0]?.expected).toBe('keys, or keysFile, and not both');
    }
  });
});
