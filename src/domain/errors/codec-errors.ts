/** Errors about stored texts that the codec cannot read. */
import { FairloomError, shown } from './fairloom-error.ts';

/** Why a stored text cannot be decrypted. */
export type DecryptionProblem = 'unknown-key' | 'altered' | 'unreadable' | 'not-encrypted';

/** A stored value cannot be decrypted here. */
export class DecryptionError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'DecryptionError';
  /** See `docs/errors.md`. */
  readonly code = 'DECRYPTION_FAILED';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The key that it was encrypted with, as it says; absent when it is not encrypted. */
  readonly keyId: string | undefined;
  /** The key is not at hand · the text was altered, or that key is another · one of these · it is not encrypted. */
  readonly problem: DecryptionProblem;

  constructor(keyId: string, problem: DecryptionProblem) {
    super(messageOf(keyId, problem));
    this.keyId = keyId === '' ? undefined : keyId;
    this.problem = problem;
  }
}

function messageOf(keyId: string, problem: DecryptionProblem): string {
  const key = shown(keyId);
  switch (problem) {
    case 'unknown-key':
      return `a stored value is encrypted with key ${key}, which this process does not have`;
    case 'unreadable':
      return `a stored value is encrypted with key ${key}, and cannot be read here`;
    case 'altered':
      return `a stored value is not what key ${key} has encrypted: it was altered, or the key is another`;
    case 'not-encrypted':
      return 'a stored value is not encrypted, and acceptUnencrypted is not set';
  }
}
