import { CliError, EXIT } from '../terminal/exit-code.ts';
import { answerOf, noted, rows, type ShownBy } from '../views/shown.ts';
import { queueView } from '../views/views.ts';

/** @throws {@link CliError} where no setting is said. */
export function demandSettings(command: string, settings: object): void {
  if (Object.keys(settings).length > 0) return;
  throw new CliError(EXIT.usage, 'nothing to set', `see fairloom ${command} --help`);
}

/** `fairloom queues …` */
export const QUEUES: ShownBy = {
  ...rows('queues.list', () => queueView),
  'queues.get': {
    show: async ({ run, output }) => {
      const status = await answerOf('queues.get', { run });
      if (output.form === 'table') output.rows([status], queueView);
      else output.one({ json: status, id: status.queue, text: [] });
      return undefined;
    },
  },
  'queues.set': {
    show: (call) => {
      const { queue: _queue, ...settings } = call.input;
      demandSettings('queues set', settings);
      return noted('queue', 'is set').show(call);
    },
  },
  'queues.pause': noted('queue', 'is paused'),
  'queues.resume': noted('queue', 'is resumed'),
};
