/** The look of the reference, light and dark. */
export const STYLE = `:root{--ground:#f6f5f2;--card:#fff;--line:#dedbd3;--ink:#1d1f21;--quiet:#5b5e63;--accent:#0f5c57;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--ground:#141618;--card:#1d2023;--line:#34383d;--ink:#eceae5;--quiet:#a5a9ae;--accent:#5cc4b5}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.55 system-ui,sans-serif;display:grid;grid-template-columns:17rem minmax(0,1fr);grid-template-areas:"head head" "nav main";max-width:76rem;margin:auto}
header{grid-area:head;padding:1.5rem 1.5rem 0}nav{grid-area:nav;padding:1rem 1.5rem;font-size:.87rem}main{grid-area:main;padding:0 1.5rem 3rem;min-width:0}
h1{font-size:1.6rem;margin:0}h1 small{color:var(--quiet);font-weight:400}h2{font-size:1.1rem}nav h2{font-size:.87rem;margin:1rem 0 .2rem}nav ul{list-style:none;margin:0;padding:0}nav li{margin:.15rem 0;overflow-wrap:anywhere}
a{color:var(--accent)}nav a{text-decoration:none}nav b,h3 b{font-size:.8em;color:var(--quiet);font-weight:700}
article{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.9rem 1.1rem;margin:0 0 .9rem}h3{margin:0 0 .3rem;font-size:1rem;overflow-wrap:anywhere}p{margin:.35rem 0}em{color:var(--quiet)}
code,pre{font:.87em/1.5 ui-monospace,Menlo,monospace}pre{background:var(--ground);border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.88rem;margin:.6rem 0 0}caption{text-align:left;font-weight:600;font-size:.85rem}th{text-align:left;color:var(--quiet);font-weight:600}th,td{padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
@media(max-width:46rem){body{grid-template-columns:minmax(0,1fr);grid-template-areas:"head" "nav" "main"}}
`
