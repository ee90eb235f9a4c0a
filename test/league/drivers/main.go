// Reads a job a line, requests its pages with net/http, and writes a line for each job.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

type job struct {
	Base    string
	Count   int
	Headers [][2]string
}

func run(j job) error {
	for number := 1; number <= j.Count; number++ {
		request, err := http.NewRequest("GET", fmt.Sprintf("%s/page/%d", j.Base, number), nil)
		if err != nil {
			return err
		}
		for _, header := range j.Headers {
			request.Header.Set(header[0], header[1])
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	return nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var j job
		err := json.Unmarshal(lines.Bytes(), &j)
		if err == nil {
			err = run(j)
		}
		if err != nil {
			fmt.Println(err)
		} else {
			fmt.Println("done")
		}
		http.DefaultClient.CloseIdleConnections()
	}
}
