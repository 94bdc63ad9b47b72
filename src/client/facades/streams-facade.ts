import { TaskNotFoundError } from '../../domain/errors/errors.ts';
import { checkId, checkName } from '../../domain/fairness/names.ts';
import { isReserved, type StreamFacts } from '../../domain/task/stream.ts';
import {
  readingOf,
  type StreamItem,
  type StreamReaders,
  StreamReading,
  type StreamReadOptions,
} from './stream-reading.ts';

/** `loom.streams`: output of running tasks. */
export class Streams {
  readonly #tools: StreamReaders;

  /** @internal */
  constructor(tools: StreamReaders) {
    this.#tools = tools;
  }

  /**
   * Reads a stream of a task, from any process, with any number of readers. Waits for a stream
   * without writes. Ends when everything was read and the stream is closed or its task has ended.
   *
   * @throws {@link InvalidOptionError}, also when `from` is beyond the end: then it is another stream, since
   * the task was stored anew. During the reading: {@link TaskNotFoundError} when the task is not stored;
   * {@link DecryptionError}; the signal's reason.
   */
  read<T = unknown>(
    id: string,
    name: string,
    options: StreamReadOptions = {},
  ): AsyncGenerator<StreamItem<T>, void, undefined> {
    const reading = readingOf('streams.read', options, { follow: true });
    const place = { id: checkId('id', id), name: checkName('stream', name) };
    // The caller names the type of the chunks.
    return new StreamReading(this.#tools, place, reading).items() as AsyncGenerator<
      StreamItem<T>,
      void,
      undefined
    >;
  }

  /**
   * The streams of a task, by name.
   *
   * @throws {@link TaskNotFoundError} when it is not stored; {@link InvalidOptionError}.
   */
  async list(id: string): Promise<readonly StreamFacts[]> {
    const checked = checkId('id', id);
    const { inspect, streams } = await this.#tools.connection.open();
    const found = await streams.list(checked);
    if (found.length > 0) return found.filter(({ name }) => !isReserved(name));
    const [status] = await inspect.status([checked]);
    if (status === undefined) throw new TaskNotFoundError(checked);
    return found;
  }
}
