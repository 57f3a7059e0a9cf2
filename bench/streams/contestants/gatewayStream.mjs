import { openGateways } from './gateway.mjs';
import { messages } from './request.mjs';

export const open = () =>
  openGateways(
    (gateway, onText) =>
      new Promise((resolve, reject) => {
        gateway.stream$({ messages }).subscribe({ next: (item) => item.type === 'content' && onText(item.text), error: reject, complete: resolve });
      }),
  );
