/**
 * What these examples use of `@nestjs/common`, which is not installed here: enough to check their types. In an application
 * the package brings its own, and this file is not needed.
 */
declare module '@nestjs/common' {
  type Token = string | symbol | (abstract new (...args: never[]) => unknown);

  interface FactoryProvider {
    readonly provide: Token;
    readonly useFactory: (...injected: never[]) => unknown;
    readonly inject?: Token[];
  }

  export interface OnModuleDestroy {
    onModuleDestroy(): unknown;
  }

  export interface MessageEvent {
    data?: string | object;
    type?: string;
  }

  export function Module(metadata: { controllers?: Token[]; providers?: FactoryProvider[]; exports?: Token[] }): ClassDecorator;
  export function Controller(): ClassDecorator;
  export function Inject(token: Token): ParameterDecorator;
  export function Sse(path: string): MethodDecorator;
  export function Query(name: string): ParameterDecorator;
}
