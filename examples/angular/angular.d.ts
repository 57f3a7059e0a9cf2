/**
 * What this example uses of Angular, which is not installed here: enough to check its types. In an application the packages
 * bring their own, and this file is not needed.
 */
declare module '@angular/core' {
  export type Signal<T> = () => T;

  export function Component(metadata: { selector: string; template: string }): ClassDecorator;
  export function Injectable(options: { providedIn: 'root' }): ClassDecorator;
  export function inject<T>(token: new () => T): T;
}

declare module '@angular/core/rxjs-interop' {
  import type { Observable } from 'rxjs';
  import type { Signal } from '@angular/core';

  export function toSignal<T>(source$: Observable<T>, options: { initialValue: T }): Signal<T>;
}
