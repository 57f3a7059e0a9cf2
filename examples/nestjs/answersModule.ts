import { Inject, Module } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import { createGateway, settingsFromEnv } from 'polygateway';
import type { Gateway } from 'polygateway';
import { Answers } from './answers.js';
import { AnswersController } from './answersController.js';

/** One gateway for the application, so that its limits hold for all calls together; also for other modules to inject. */
export const GATEWAY = Symbol('gateway');

/**
 * Every injection names its token, so that no metadata of types is needed, which not every compiler emits.
 *
 *     const app = await NestFactory.create(AnswersModule);
 *     app.enableShutdownHooks();      // SIGTERM closes the module, and with it the gateway
 *     await app.listen(3000);
 */
@Module({
  controllers: [AnswersController],
  providers: [
    { provide: GATEWAY, useFactory: () => createGateway({ settings: settingsFromEnv('LLM') }) },
    { provide: Answers, useFactory: (gateway: Gateway) => new Answers(gateway), inject: [GATEWAY] },
  ],
  exports: [GATEWAY],
})
export class AnswersModule implements OnModuleDestroy {
  readonly #gateway: Gateway;

  constructor(@Inject(GATEWAY) gateway: Gateway) {
    this.#gateway = gateway;
  }

  /** Ends the calls in flight, writes the rows that wait, and closes the sockets. */
  onModuleDestroy(): Promise<void> {
    return this.#gateway.close();
  }
}
