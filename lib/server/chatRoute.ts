import type { FastifyInstance } from 'fastify';
import { readChatBody } from './chatBody.js';
import { chatCompletion } from '../wire/chatCompletion.js';
import { factsOfChat } from './factHeaders.js';
import type { ChatDoor, Delivery } from './frontDoorOptions.js';
import { wrongField } from './requestFields.js';
import { sendStreamed } from './streamedAnswer.js';
import { sendWhole } from './wholeAnswer.js';

export interface ChatRouteOptions {
  readonly chat: ChatDoor;
  readonly delivery: Delivery;
  readonly keepaliveMs: number;
  readonly slowClientMs: number;
}

const deliveryHeader = 'x-polygateway-delivery';

/** `POST /v1/chat/completions`. */
export function registerChat(app: FastifyInstance, { delivery: usual, ...options }: ChatRouteOptions): void {
  app.post('/v1/chat/completions', (request, reply) => {
    const delivery = deliveryOf(request.headers[deliveryHeader], usual);
    const asked = readChatBody(request.body);
    if (asked.streamed) sendStreamed(reply, { ...options, asked, delivery });
    else sendWhole(reply, { response$: options.chat.chat$(asked.request), factsOf: factsOfChat, bodyOf: chatCompletion });
  });
}

function deliveryOf(asked: string | string[] | undefined, usual: Delivery): Delivery {
  if (asked === undefined || asked === 'commit' || asked === 'buffered') return asked ?? usual;
  throw wrongField(`the header ${deliveryHeader}`, 'must be commit or buffered');
}
