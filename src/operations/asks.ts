/** Operations on questions that tasks ask people. */
import type { Fairloom } from '../client/client.ts';
import type { AskInfo } from '../client/facades/asks-facade.ts';
import { AskNotFoundError, DecryptionError, InvalidOptionError } from '../domain/errors/errors.ts';
import { checkName } from '../domain/fairness/names.ts';
import { anything, required, text } from './fields.ts';
import { type Operation, operation } from './operation.ts';
import { pageSeen } from './owned.ts';
import { PAGE_FIELDS, pageOf } from './paging.ts';
import type { View } from './view.ts';

/** `asks …` */
export const ASK_OPERATIONS: readonly Operation[] = [
  operation('asks.list', {
    http: 'GET /asks',
    command: 'asks list',
    help: 'Open questions, the oldest first.',
    users: 'rows',
    input: {
      user: text('Of tasks of this user.', 'id'),
      for: text('For this name, as `role:finance`.', 'name'),
      ...PAGE_FIELDS,
    },
    run: async (call) =>
      pageSeen(call, call.input.user, pageOf(call.input), (user, page) =>
        call.loom.asks.list({ user, for: call.input.for, ...page }),
      ),
  }),
  operation('asks.get', {
    http: 'GET /asks/{id}',
    command: 'asks get <id>',
    help: 'Everything about one question, open or closed.',
    users: 'subject',
    run: async ({ loom, view, input }) => demandAsk(loom, view, input.id),
  }),
  operation('asks.answer', {
    http: 'POST /asks/{id}/answer',
    command: 'asks answer <id> <choice>',
    help: 'Answers a question; the first answer counts.',
    needs: 'answer',
    users: 'subject',
    input: {
      choice: required(text('One of its choices.', 'choice')),
      by: text(
        'Who answers; stored with the answer. Over HTTP the caller, where `access` names it.',
        'who',
      ),
      comment: text('Text for people, stored with the answer.'),
      form: anything('What the form of the question asks for.'),
    },
    run: async ({ loom, view, input: { id, choice, comment, form, ...said } }) => {
      checkName('choice', choice);
      const { encryptedWith } = await demandAsk(loom, view, id);
      // Its handler would not take what comes without the key, and a question is answered once.
      if (encryptedWith !== undefined) throw new DecryptionError(encryptedWith, 'unknown-key');
      // A caller that `access` names answers in no other name.
      const by = view.by ?? said.by;
      if (by === undefined) throw new InvalidOptionError('by', 'who answers', by);
      const answer = { choice, by, comment, ...(form === undefined ? {} : { form }) };
      await loom.asks.answer(id, answer);
      return { id, choice, by };
    },
  }),
];

/** @throws {@link AskNotFoundError} also for one of another user. */
async function demandAsk(loom: Fairloom, view: View, id: string): Promise<AskInfo> {
  const ask = await loom.asks.get(id);
  if (ask === undefined || !view.sees(ask.user)) throw new AskNotFoundError(id);
  return ask;
}
