export const STYLE = `:root{color-scheme:light dark;--ground:#f6f5f2;--line:#dedbd3;--ink:#1d1f21;--quiet:#5b5e63;--accent:#0f5c57;--on-accent:#ffffff;--code:#ecebe7;--allow:#2b7a5e;--flag:#8a5a00;--block:#b3262e}
@media (prefers-color-scheme:dark){:root{--ground:#141618;--line:#34383d;--ink:#eceae5;--quiet:#a5a9ae;--accent:#5cc4b5;--on-accent:#141618;--code:#1d2023;--allow:#6ac59f;--flag:#e3b34d;--block:#ff8a8a}}
body{font:17px/1.6 system-ui,sans-serif;max-width:62rem;margin:1.2rem auto;padding:0 1rem;color:var(--ink);background:var(--ground)}
nav a{margin-right:1rem;display:inline-block}a{color:var(--accent)}h1{margin:.6rem 0}h2{margin:1.4rem 0 .4rem}h3{font-size:1rem;margin:1rem 0 .4rem}
table{border-collapse:collapse;font:15px/1.5 system-ui,sans-serif;border-left:4px solid var(--line);width:100%}
table.allow,table.redirect{border-color:var(--allow)}table.flag,table.challenge,table.offer{border-color:var(--flag)}table.block,table.throttle{border-color:var(--block)}
.allow strong,.redirect strong{color:var(--allow)}.flag strong,.challenge strong,.offer strong{color:var(--flag)}.block strong,.throttle strong{color:var(--block)}
th{text-align:left;font-weight:400;color:var(--quiet);white-space:nowrap}td,th{padding:.25rem .8rem .25rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td{overflow-wrap:anywhere}footer{margin-top:2rem;color:var(--quiet)}footer table{font-size:13px;width:auto}
.kinds{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(15rem,100%),1fr));gap:0 1.5rem}.kinds h2{font-size:1rem;margin:.6rem 0 .3rem}
.kinds ul{list-style:none;margin:0;padding:0;font:15px/1.4 system-ui,sans-serif}.be{display:block;padding:.25rem .6rem;border-left:4px solid var(--line);text-decoration:none}
.be:hover{text-decoration:underline}.be[aria-current]{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}.note{border-left:4px solid var(--flag);padding:.2rem .8rem}
.halves{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:0 1.5rem}section{min-width:0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--code);margin:0;padding:.7rem;font-size:13px;overflow:auto}
iframe{box-sizing:border-box;width:100%;height:22rem;border:1px solid var(--line);color-scheme:light dark}`
