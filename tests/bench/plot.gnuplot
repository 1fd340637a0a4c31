# Draws what plot.py hands over: `kernels` and `throughput` are files of columns with a line of titles, `output` an SVG.
set terminal svg size 1000,800 font 'sans-serif,12' background 'white'
set output output
set datafile missing '-'
set multiplot layout 2,1
set style fill solid 0.9 noborder
set key outside right top samplen 1
set border 3
set tics nomirror

# One state at a time beside the peers, and in batches. ABA stands for forward dynamics.
set title 'Nanoseconds per state, one core'
set style data histograms
set style histogram clustered gap 2
set logscale y
set yrange [10:*]
set format y '10^{%T}'
set grid ytics
set xtics font ',9'
set bmargin 5
plot for [column = 2:8] kernels using column:xtic(1) title columnheader(column) linetype column - 1

# Through the daemon.
set title 'Inverse dynamics of an arm with 7 joints, states per second'
set style data linespoints
set logscale x
set yrange [*:*]
set xtics font ',12'
set xlabel 'states a request'
plot for [column = 2:8] throughput using 1:column title columnheader(column) linetype column - 1 \
     pointtype 7 pointsize 0.5
