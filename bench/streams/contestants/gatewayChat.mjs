import { openGateways } from './gateway.mjs';
import { messages } from './request.mjs';

export const open = () =>
  openGateways(
    (gateway, onText) =>
      new Promise((resolve, reject) => {
        gateway.chat$({ messages }).subscribe({ next: ({ content }) => onText(content), error: reject, complete: resolve });
      }),
  );
