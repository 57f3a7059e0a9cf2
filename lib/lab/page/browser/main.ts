import type { PageData } from '../pageData.js';
import { createCharts } from './charts.js';
import type { Charts } from './charts.js';
import { element, paragraph } from './element.js';
import { hedgePaints } from './hedgesFigures.js';
import { headline } from './headline.js';
import { hourPaints, hoursSection } from './hoursSection.js';
import { latencySection } from './latencySection.js';
import { filterWords, methodSection, spanWords } from './methodSection.js';
import { outcomePaints, outcomesSection } from './outcomesSection.js';
import './page.css';
import { paintPatterns } from './paints.js';
import { contents, sectionElement } from './section.js';
import type { Section } from './section.js';
import { silenceSection } from './silenceSection.js';
import { slowestSection } from './slowestSection.js';
import { sourcesSection } from './sourcesSection.js';
import { timePaints } from './timeParts.js';
import { watchScrolling } from './watchScrolling.js';
import { whatIfSection } from './whatIfSection.js';
import { counted } from './words.js';

/** In points at 96 to the inch: an A4 page or a letter within its margins. */
const printWidth = 680;

function draw(data: PageData, page: HTMLElement): void {
  const { figures, whatIf } = data;
  const charts = createCharts();
  const sections = sectionsOf(data, charts);
  const { overall, calls } = figures;
  page.append(
    paragraph(`${figures.database}: ${counted(overall.attempts, 'attempt')} of ${counted(calls.calls, 'call')}${figures.firstAt === null ? '' : `, ${spanWords(figures)}`}. Filter: ${filterWords(figures.filter)}.`, { class: 'lead' }),
    paintPatterns([...timePaints, ...outcomePaints, ...hedgePaints, ...hourPaints]),
    ...(overall.attempts === 0 ? [paragraph('There is no attempt to report on: the database holds none that the filter lets through.', { class: 'empty' })] : [headline(figures, whatIf), contents(sections)]),
    ...sections.map(sectionElement),
  );
  charts.draw();
  watchScrolling(page);
  // A number tells the width that counts; heights change with every chart.
  let width = page.clientWidth;
  new ResizeObserver(() => {
    if (page.clientWidth === width) return;
    width = page.clientWidth;
    charts.draw();
  }).observe(page);
  addEventListener('beforeprint', () => charts.draw(printWidth));
  addEventListener('afterprint', () => charts.draw());
  document.documentElement.dataset['drawn'] = 'yes';
}

function sectionsOf(data: PageData, charts: Charts): Section[] {
  const { figures, whatIf, current, scope } = data;
  if (figures.overall.attempts === 0) return [methodSection(data)];
  return [
    sourcesSection(figures, charts),
    silenceSection({ figures, charts, whatIf, current }),
    latencySection(figures, charts),
    outcomesSection(figures, charts),
    hoursSection(figures, charts),
    slowestSection(figures, charts),
    ...(whatIf ? [whatIfSection(whatIf, scope, charts)] : []),
    methodSection(data),
  ];
}

const page = document.getElementById('page') ?? document.body.appendChild(element('main'));
draw(JSON.parse(document.getElementById('data')?.textContent ?? '') as PageData, page);
