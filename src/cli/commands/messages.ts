import { type ShownBy, thing } from '../views/shown.ts';

/** `fairloom signal`, `fairloom publish` */
export const MESSAGES: ShownBy = {
  ...thing('signal', ({ id, name, outcome }) => ({ id, text: [`signal ${name} is ${outcome}`] })),
  ...thing('publish', ({ name, key, outcome }) => ({
    id: key,
    text: [`event ${name} of ${key} is ${outcome}`],
  })),
};
