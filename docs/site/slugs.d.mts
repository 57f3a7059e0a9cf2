/** The anchors that GitHub gives to the headings of a document, in their order: no two are the same. */
export declare function slugs(): (heading: string) => string;
