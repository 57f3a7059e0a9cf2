import type { ReportFigures } from '../report/reportFigures.js';
import type { Thresholds, WhatIf } from '../whatif/whatIf.js';

/** What the page's script finds in the page. */
export interface PageData {
  readonly version: string;
  readonly figures: ReportFigures;
  readonly scope: string;
  readonly whatIf?: WhatIf;
  readonly current?: Thresholds;
}
