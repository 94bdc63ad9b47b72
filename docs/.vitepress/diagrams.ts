import { renderMermaidSVG } from 'beautiful-mermaid';

/** Resources that the renderer would fetch from other hosts. */
const FONTS = /@import url\([^)]*\);?/g;

/**
 * The picture of a Mermaid diagram, in the colours of the page. It is an attribute, since a Vue template
 * accepts no styles.
 */
export function diagram(source: string): string {
  const colors = { bg: 'var(--vp-c-bg)', fg: 'var(--vp-c-text-1)', transparent: true };
  const svg = renderMermaidSVG(source, colors).replaceAll(FONTS, '');
  const text = JSON.stringify(svg).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<div class="diagram" v-html="${text}"></div>\n`;
}
