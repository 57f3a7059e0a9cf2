import type { SubscriptionTimes } from './difference/messageOfSubscriptions.js';
import { parseDiagram, showFault } from './parseDiagram.js';
import type { Fault } from './parseDiagram.js';

/** The times of a subscription diagram such as `^ 20s ---!`; one without `^` was never subscribed, one without `!` is open. */
export function subscriptionOf(diagram: string): SubscriptionTimes {
  const { signs, faults } = parseDiagram(diagram);
  const strange = signs.flatMap(({ symbol, column }, at): Fault[] => {
    if (symbol !== '^' && symbol !== '!') return [{ column, what: `"${symbol}" is no sign of a subscription diagram: write "^" where it is opened and "!" where it is closed` }];
    return signs.findIndex((other) => other.symbol === symbol) < at ? [{ column, what: `a second "${symbol}": write one diagram for each subscription` }] : [];
  });
  const [fault] = [...faults, ...strange];
  if (fault !== undefined) throw new Error(showFault('The diagram cannot be read', diagram, fault));
  const timeOf = (sign: string): number => signs.find(({ symbol }) => symbol === sign)?.atMs ?? Infinity;
  return { subscribedFrame: timeOf('^'), unsubscribedFrame: timeOf('!') };
}
