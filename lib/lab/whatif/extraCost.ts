import type { Band, Prediction, WhatIf } from './whatIf.js';

export interface ExtraCost {
  readonly band: Band;
  readonly of: WhatIf['maxExtraOf'];
}

/** What a prediction costs, in the budget's own measure; in requests where its tokens are unknown. */
export function extraCost({ extraTokensShare, extraRequestsShare }: Prediction, of: WhatIf['maxExtraOf']): ExtraCost {
  return of === 'tokens' && extraTokensShare !== null ? { band: extraTokensShare, of } : { band: extraRequestsShare, of: 'requests' };
}
