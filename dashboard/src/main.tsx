import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/parts.css';
import './style/controls.css';
import './style/tables.css';
import './style/tasks.css';
import './style/runs.css';
import './style/screens.css';
import './style/phone.css';
import { render } from 'preact';
import { Screen } from './screens/screen.tsx';
import { App } from './shell/app.tsx';
import { listenToKeys } from './shell/keys.ts';
import { begin } from './state/session.ts';
import { keepStream } from './state/stream.ts';

// What the server says of itself is on its way while the first frame is drawn.
void begin();
const page = document.getElementById('page');
if (page !== null) {
  render(
    <App>
      <Screen />
    </App>,
    page,
  );
}
listenToKeys();
keepStream();
